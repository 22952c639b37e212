"""
How many features? The variance known against their number
==========================================================

Every further column makes more of the variance of held-out rows known. To see where to stop, compare with
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
# ``n_features_to_select="auto"`` selects the fewest columns beyond which further ones add hardly more than
# themselves: the other columns are reconstructed as well as with any number, within one standard error.
selector = ReconstructionSelector(n_features_to_select="auto").fit(train)
curve = selector.count_curve_
print(curve["n_features"][curve["chosen"]], "columns know", curve["score"][curve["chosen"]].round(3))

# %%
# The dashed line marks the automatic number.
display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
count = selector.support_.sum()
display.ax_.axvline(count, color="0.3", linestyle="--", label=f'"auto": {count} columns')
display.ax_.legend(frameon=False)
plt.show()
