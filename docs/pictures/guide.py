import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import TSNE

from ufselect import DSCOFS
from ufselect.metrics import evaluate_selection
from ufselect.plotting.style import COLOURS, quiet

# Six clusters that forty columns show; 160 others follow one stronger direction, such as the light.
rng = np.random.default_rng(0)
clusters = rng.integers(6, size=600)
informative = 1.32 * rng.standard_normal((6, 40))[clusters] + rng.standard_normal((600, 40))
nuisance = 3 * rng.standard_normal((600, 1)) @ rng.standard_normal((1, 160))
X = np.hstack([informative, nuisance + rng.standard_normal((600, 160))])

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, name, columns in (
    (axes[0], "DSCOFS(30)", DSCOFS(30).fit(X).support_),
    (axes[1], 'DSCOFS(30, guide="graph")', DSCOFS(30, guide="graph").fit(X).support_),
    (axes[2], "all 200 columns", np.ones(200, dtype=bool)),
):
    places = TSNE(random_state=0).fit_transform(X[:, columns])
    accuracy = evaluate_selection(X, clusters, columns, n_runs=20).acc_mean
    ax.scatter(*places.T, c=[COLOURS[label % len(COLOURS)] for label in clusters], s=5, linewidths=0)
    ax.set(title=name, xlabel=f"accuracy of K-means: {accuracy:.0f} %", xticks=[], yticks=[])
    quiet(ax)
