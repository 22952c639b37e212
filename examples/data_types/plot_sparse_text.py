"""
Select words from sparse text
=============================

Term–document matrices are sparse and wide. They are centred implicitly and never made dense. Which words
represent a vocabulary? The documents are the docstrings of NumPy and SciPy.
"""

# %%
import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from ufselect import RandomSubset, ReconstructionSelector, Reconstructor

documents = [
    text
    for module in (np, np.linalg, np.fft, scipy.linalg, scipy.signal, scipy.stats)
    for name, item in inspect.getmembers(module, callable)
    if not name.startswith("_") and (text := inspect.getdoc(item)) and len(text) > 200
]
vectorizer = TfidfVectorizer(stop_words="english", min_df=5, max_df=0.5, token_pattern=r"[a-z]{4,}")
X = vectorizer.fit_transform(documents)
print(f"{X.shape[0]} documents × {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} non-zero")

# %%
# The first words name the subject of a module, such as ``filter``, or belong to a sentence that many
# docstrings share, such as ``retain``.
train, test = train_test_split(X, test_size=300, random_state=0)
selected = Reconstructor(ReconstructionSelector(n_features_to_select=60)).fit(train)
words = vectorizer.get_feature_names_out()[np.argsort(selected.estimator_.ranking_)]
print("first words:", *words[:15])

# %%
# The share of the variance of all words explained on held-out documents, compared with random words.
counts = [5, 10, 20, 40, 60]


def shares(reconstructor):
    """Return the share of the variance explained on held-out documents for each number of words."""
    return reconstructor.curve(test, counts)["score"]


random = [shares(Reconstructor(RandomSubset(60, random_state=seed)).fit(train)) for seed in range(10)]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(counts, shares(selected), marker="o", label="selected words")
ax.fill_between(counts, np.min(random, axis=0), np.max(random, axis=0), color="0.8", label="random words")
ax.set(xlabel="words", ylabel="share of the variance, held-out documents")
ax.legend(frameon=False)
plt.show()
