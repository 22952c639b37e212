"""
Data frames in, data frames out
===============================

Column names survive. ``set_output`` makes ``transform`` return the frame type you work with.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS
from ufselect.plotting import ScoresDisplay

wine = load_wine(as_frame=True).data
scaled = StandardScaler().set_output(transform="pandas").fit_transform(wine)
selector = DSCOFS(n_features_to_select=5, n_components=3).set_output(transform="pandas")
print(selector.fit_transform(scaled).head())

# %%
# The full ranking, with the chosen five in colour.
ScoresDisplay.from_estimator(selector)
plt.show()
