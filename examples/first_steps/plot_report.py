"""
The page that explains a selection
==================================

``ufselect select … --report page.html`` writes it, and so do two lines of Python. It is one file that
needs no network: what was selected, what each selected column represents, what it is worth on held-out rows
beside random columns, and whether other rows would give the same.
"""

# sphinx_gallery_thumbnail_path = "_static/report.png"

# %%
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
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
# Everything on it is in the explanation. Here: the reconstruction error on held-out rows, beside six random
# columns and as many principal components, which need all columns.
explanation.assessment.plot()
plt.show()
