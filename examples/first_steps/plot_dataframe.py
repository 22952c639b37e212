"""
Select columns of a data frame and report on them
=================================================

We select six of thirty measurements of tumours from which the other 24 can be reconstructed. Column names are
kept, and ``set_output`` makes ``transform`` return a data frame.
"""

# sphinx_gallery_thumbnail_path = "_static/report.png"

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from ufselect import ReconstructionSelector
from ufselect.report import explain, report_html

tumours = load_breast_cancer(as_frame=True).data
scaled = StandardScaler().set_output(transform="pandas").fit_transform(tumours)
selector = ReconstructionSelector(n_features_to_select=6).set_output(transform="pandas")
selector.fit_transform(scaled).head()

# %%
# ``explain`` describes the selection: what each selected column represents, how much of the variance the
# selection explains on held-out rows compared with random columns, and whether other rows would give the same
# columns. In a notebook it is displayed as a page; ``report_html`` returns that page as a string.
explanation = explain(selector, scaled)
page = report_html(explanation, title="breast cancer")
explanation

# %%
# The assessment as a figure: six random columns explain less of the variance of held-out rows. As many
# principal components explain more, but need all thirty measurements.
figure, ax = plt.subplots(figsize=(6.5, 2.5), layout="constrained")
explanation.assessment.plot(ax=ax)
plt.show()
