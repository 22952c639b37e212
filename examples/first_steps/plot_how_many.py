"""
How many features? The variance explained by each number
========================================================

Every further column explains more of the variance of held-out rows. To see where to stop, compare with
random columns and with as many principal components, which need all columns.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ufselect import ReconstructionSelector, Reconstructor
from ufselect.plotting import ReconstructionDisplay

pixels = load_digits().data
train, test = pixels[:1200], pixels[1200:]
reconstructor = Reconstructor(ReconstructionSelector(n_features_to_select=45), regressor="ridge").fit(train)

# %%
# ``n_features_to_select="auto"`` selects columns until a further one adds little beyond its own variance.
selector = ReconstructionSelector(n_features_to_select="auto").fit(train)
curve = selector.count_curve_
(count,), (share,) = curve["n_features"][curve["chosen"]], curve["score"][curve["chosen"]]
print(f"{count} columns explain {share:.1%} of the variance")

# %%
# The dashed line marks the automatic number.
display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
display.ax_.axvline(count, color="0.3", linestyle="--", label=f'"auto": {count} columns')
display.ax_.legend(frameon=False)
plt.show()
