"""
A step in a pipeline, and how many columns it needs
===================================================

A selector is an ordinary scikit-learn transformer: it goes into a pipeline, and a grid search can choose
how many columns to keep when a supervised goal follows. The selection itself never sees the labels.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ufselect import RandomSubset, RebuildSelector

X, y = load_digits(return_X_y=True)
X, y = X[:900], y[:900]
counts = [4, 8, 16, 24, 32, 48, 64]


def fewest(results):
    """Return the fewest columns within one standard error of the best."""
    means, errors = results["mean_test_score"], results["std_test_score"] / np.sqrt(5)
    best = means.argmax()
    return int(np.flatnonzero(means >= means[best] - errors[best])[0])


pipeline = make_pipeline(RebuildSelector(), KNeighborsClassifier())
grid = {"rebuildselector__n_features_to_select": counts}
search = GridSearchCV(pipeline, grid, cv=5, refit=fewest).fit(X, y)
print("pixels kept:", search.best_params_["rebuildselector__n_features_to_select"], "of 64")

# %%
# Random pixels in the same pipeline, five times.
blind = np.array(
    [
        [
            cross_val_score(
                make_pipeline(RandomSubset(count, random_state=seed), KNeighborsClassifier()), X, y
            ).mean()
            for count in counts
        ]
        for seed in range(4)
    ]
)

# %%
# Half of the pixels do as well as all of them; as many random ones do not.
means, spread = search.cv_results_["mean_test_score"], search.cv_results_["std_test_score"]
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.errorbar(counts, means, yerr=spread, marker="o", capsize=3, color="#0072B2", label="RebuildSelector")
axes.fill_between(
    counts, blind.min(axis=0), blind.max(axis=0), color="#BBBBBB", alpha=0.6, label="random, 4 draws"
)
axes.axhline(means[-1], color="#333333", linestyle=":", label="all pixels")
axes.axvline(counts[search.best_index_], color="#D55E00", linestyle="--", label="chosen")
axes.set(xlabel="pixels kept", ylabel="cross-validated accuracy")
axes.legend(loc="lower right")
plt.show()
