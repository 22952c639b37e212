import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import AutoSelector

pixels = load_digits().data
selector = AutoSelector(20, goal="clusters", n_clusters=10, random_state=0).fit(pixels)
figure, axes = plt.subplots(2, 10, figsize=(9, 2.1), layout="constrained")
for cluster, (above, below) in enumerate(axes.T):
    mean = pixels[selector.labels_ == np.unique(selector.labels_)[cluster]].mean(axis=0)
    above.imshow(mean.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    below.imshow(np.where(selector.support_, mean, np.nan).reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    for ax in (above, below):
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_facecolor("#e3edf5")
axes[0, 0].set_ylabel("all 64", rotation=0, ha="right", va="center")
axes[1, 0].set_ylabel("selected 20", rotation=0, ha="right", va="center")
