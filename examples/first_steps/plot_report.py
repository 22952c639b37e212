"""
The page that explains a selection
==================================

``ufselect select … --report page.html`` writes it, and so do two lines of Python. It is one file that
needs no network: what was kept, what each kept column stands for, what it is worth beside random
columns, and whether another sample would give the same.
"""

# sphinx_gallery_thumbnail_path = "_static/report.png"

# %%
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from ufselect import RebuildSelector
from ufselect.report import explain, report_html

cells = load_breast_cancer(as_frame=True).data
scaled = StandardScaler().set_output(transform="pandas").fit_transform(cells)
selector = RebuildSelector(n_features_to_select=6).fit(scaled)
explanation = explain(selector, scaled)
page = Path(mkdtemp()) / "page.html"
_ = page.write_text(report_html(explanation, title="breast cancer"), encoding="utf-8")

# %%
# In a notebook, an explanation shows the page itself; here it is.
explanation

# %%
# Everything on it is in the explanation. Here: the variance that comes back from the six columns, beside
# twenty random choices of six.
figure, axes = plt.subplots(figsize=(6.5, 1.8), layout="constrained")
blind = 100 * np.asarray(explanation.variance.random)
axes.axvspan(blind.min(), blind.max(), color="#BBBBBB", alpha=0.6, label="20 random choices")
axes.plot(blind, np.zeros(blind.size), "|", color="#666666", markersize=16)
axes.plot(100 * explanation.variance.selection, 0, "o", color="#0072B2", markersize=9, label="kept")
axes.set(yticks=[], xlabel="variance of all columns rebuilt, %")
axes.legend(loc="upper left", fontsize=8)
plt.show()
