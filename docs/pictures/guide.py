import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ufselect import DSCOFS
from ufselect.plotting import PixelsDisplay

pixels = load_digits().data
figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
for ax, title, settings in zip(
    axes,
    ("DSCOFS", 'DSCOFS, guide="graph"'),
    ({}, {"guide": "graph", "n_components": 9, "random_state": 0}),
    strict=True,
):
    selector = DSCOFS(20, **settings).fit(pixels)
    PixelsDisplay.from_estimator(selector, (8, 8), background=pixels.mean(axis=0), ax=ax)
    ax.set_title(title, size=10)
