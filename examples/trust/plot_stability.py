"""
Which features would be chosen again?
=====================================

Another sample of the same population would have given another selection. `StableSelector` fits a selector to
halves of the rows, again and again, and keeps the features that most halves agree on; its error bound says
how many of them to expect there by chance.
"""

# %%
# Three hundred images of digits, of which a method is to keep twelve pixels. A blind draw stands beside it:
# its seed is another one on every half, so that it shows for what it is.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ufselect import PCALeverage, RandomSubset, StableSelector

X = load_digits().data[:300]
selectors = {
    "PCA leverage": PCALeverage(n_features_to_select=12, n_components=8),
    "a blind draw": RandomSubset(n_features_to_select=12, random_state=0),
}
fitted = {}
for name, selector in selectors.items():
    stable = fitted[name] = StableSelector(selector, n_resamples=50, random_state=0).fit(X)
    print(
        f"{name}: {stable.support_.sum()} of 12 reach {stable.threshold_:.2f} of the halves, where at most "
        f"{stable.error_bound_.unimodal:.2f} are expected by chance; stability {stable.stability_:.2f}"
    )

# %%
# Half of the selection is certain. The pixels below the threshold take turns with their neighbours: more
# data, or a method that avoids near copies, would settle which.
figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
for axis, (name, stable) in zip(axes, fitted.items(), strict=True):
    image = axis.imshow(stable.frequencies_.reshape(8, 8), vmin=0, vmax=1, cmap="Blues")
    rows, columns = np.nonzero(stable.support_.reshape(8, 8))
    axis.plot(columns, rows, "o", color="tab:orange", label="stable")
    axis.set_title(name)
    axis.set_xticks([])
    axis.set_yticks([])
axes[0].legend(loc="upper left")
figure.colorbar(image, ax=axes, label="share of the halves that select it")
plt.show()
