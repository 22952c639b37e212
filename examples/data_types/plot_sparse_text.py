"""
Words from sparse text
======================

Term–document matrices are sparse and wide. They are centred implicitly and never made dense. The
documents here are the docstrings of NumPy's and SciPy's functions, which every installation has.
"""

# %%
import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer

from ufselect import DSCOFS

modules = [np, np.linalg, np.fft, scipy.linalg, scipy.signal, scipy.stats]
documents = [
    text
    for module in modules
    for name, item in inspect.getmembers(module, callable)
    if not name.startswith("_") and (text := inspect.getdoc(item)) and len(text) > 200
]
vectorizer = TfidfVectorizer(
    stop_words="english", min_df=5, max_df=0.5, token_pattern=r"[a-z]{4,}", dtype=np.float32
)
X = vectorizer.fit_transform(documents)
print(f"{X.shape[0]} documents × {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} non-zero, {X.dtype}")

# %%
# Thirty words that span the vocabulary's main directions.
selector = DSCOFS(n_features_to_select=30, n_components=12, entry_sparsity=30 * 12 // 2).fit(X)
words = selector.get_feature_names_out(vectorizer.get_feature_names_out())
order = np.argsort(selector.scores_[selector.support_])

figure, axes = plt.subplots(figsize=(6, 6.5), layout="constrained")
axes.barh(words[order], selector.scores_[selector.support_][order], color="#009E73")
axes.set_xlabel("score")
axes.set_title("words kept")
plt.show()
