"""
Data frames in, data frames out
===============================

Column names survive. ``set_output`` makes ``transform`` return the frame type you work with.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from ufselect import DSCOFS

wine = load_wine(as_frame=True).data
scaler = StandardScaler().set_output(transform="pandas")
selector = DSCOFS(n_features_to_select=5, n_components=3, entry_sparsity=0.2).set_output(transform="pandas")
small = selector.fit_transform(scaler.fit_transform(wine))
print(small.head())

# %%
# The full ranking, with the chosen five in colour.
table = pd.DataFrame(
    {"feature": wine.columns, "score": selector.scores_, "kept": selector.support_}
).sort_values("score")
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.barh(table["feature"], table["score"], color=table["kept"].map({True: "#0072B2", False: "#BBBBBB"}))
axes.set_xlabel("score (row norm of the loadings)")
plt.show()
