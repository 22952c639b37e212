"""
Feature selection in a scikit-learn pipeline
============================================

A selector is a step of a pipeline. If a supervised model follows, a grid search finds the number of columns
that it needs; the selection itself does not use the labels.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from ufselect import RandomSubset, ReconstructionSelector

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
counts = [4, 8, 16, 32, 64]
pipeline = Pipeline([("select", ReconstructionSelector()), ("classify", KNeighborsClassifier())])
search = GridSearchCV(pipeline, {"select__n_features_to_select": counts}).fit(X, y)
accuracies = search.cv_results_["mean_test_score"]
for count, accuracy in zip(counts, accuracies, strict=True):
    print(f"{count} pixels: accuracy {accuracy:.3f}")

# %%
# Five sets of random columns in the same pipeline.
grid = {
    "select": [RandomSubset(random_state=seed) for seed in range(5)],
    "select__n_features_to_select": counts,
}
random_search = GridSearchCV(pipeline, grid, refit=False).fit(X, y)
random_accuracies = random_search.cv_results_["mean_test_score"].reshape(5, len(counts))

# %%
# 32 selected pixels are as good as all 64; 32 random ones are not.
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(counts, accuracies, marker="o", label="ReconstructionSelector")
ax.fill_between(
    counts,
    random_accuracies.min(axis=0),
    random_accuracies.max(axis=0),
    color="0.8",
    label="random columns, 5 sets",
)
ax.axhline(accuracies[-1], color="0.3", linestyle=":", label="all pixels")
ax.set(xlabel="selected pixels, of 64", ylabel="cross-validated accuracy")
ax.legend(loc="lower right", frameon=False)
plt.show()
