"""
How many features? Reconstruction error against their number
============================================================

The reconstruction error on held-out rows falls with every further column. To see where to stop, compare it
with random columns and with as many principal components, which need all columns.
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
# ``n_features_to_select="auto"`` selects the fewest columns whose error is within one standard error of the
# lowest, and says so if more columns would still help.
selector = ReconstructionSelector(n_features_to_select="auto").fit(train)
print(next(row["note"] for row in selector.count_curve_ if row["chosen"]))

# %%
# The dashed line marks the automatic number.
display = ReconstructionDisplay.from_estimator(reconstructor, test, X_train=train)
count = selector.support_.sum()
display.ax_.axvline(count, color="0.3", linestyle="--", label=f'"auto": {count} columns')
display.ax_.legend(frameon=False)
plt.show()
