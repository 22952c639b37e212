"""ConstrainedDSCOFS beside its rivals.

``python benchmarks/constrained_mode.py [--quick]`` prints, as Markdown, the variance that each method's
features carry, relative to that of ``ConstrainedDSCOFS``, and what is left of it when the entry constraint
binds. Run with one BLAS thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import REAL_SETS, load

from ufselect import DSCOFS, FSPCA, ConstrainedDSCOFS
from ufselect.gram import GramOperator, gram_operator
from ufselect.gram.spectrum import leading_sum
from ufselect.methods.dscofs.constrained import improve_by_exchanges
from ufselect.methods.dscofs.problem import optimality_gap, variance_bound

QUICK_SETS = ("lung_discrete", "usps", "glioma")


def captured_variance(gram: GramOperator, support: np.ndarray, n_components: int) -> float:
    """Return the most variance that the features named carry along m axes."""
    return leading_sum(gram.subgram(support), n_components)


def rivals(data: np.ndarray, r: int, m: int) -> dict[str, float]:
    """Return the variance carried by r features of each rival, and of ConstrainedDSCOFS."""
    from abess import SparsePCA

    gram = gram_operator(data)
    rng = np.random.default_rng(0)
    draws = [rng.choice(data.shape[1], r, replace=False) for _ in range(200)]
    single = SparsePCA(support_size=r).fit(data, is_normal=False)
    chosen = np.flatnonzero(np.any(np.reshape(single.coef_, (data.shape[1], -1)) != 0, axis=1))[:r]
    began = time.process_time()
    fitted = ConstrainedDSCOFS(r, n_components=m).fit(data)
    seconds = time.process_time() - began
    penalty = DSCOFS(r, n_components=m, entry_sparsity=None, tol=1e-7, max_iter=1000).fit(data)
    return {
        "constrained": captured_variance(gram, np.flatnonzero(fitted.support_), m),
        "penalty": captured_variance(gram, np.flatnonzero(penalty.support_), m),
        "FSPCA": captured_variance(gram, np.flatnonzero(FSPCA(r, n_components=m).fit(data).support_), m),
        "abess": captured_variance(gram, chosen, m),
        "200 random": max(captured_variance(gram, support, m) for support in draws),
        "swaps": improve_by_exchanges(gram, draws[0], m)[1],
        "bound": variance_bound(gram.eigenpairs(2 * m), gram.diag(), r, m),
        "seconds": seconds,
    }


def constrained(names: tuple[str, ...]) -> None:
    """Print each method's variance relative to that of ConstrainedDSCOFS, and the proven gap."""
    header = ("constrained", "penalty", "FSPCA", "abess", "200 random", "swaps")
    print("\n### The constrained problem\n")
    print("| data | r | " + " | ".join(header) + " | gap | CPU s |")
    print("|---|---|" + "---|" * (len(header) + 2))
    for name in names:
        data, m = load(name)
        for r in (30, 100):
            found = rivals(data, r, m)
            shares = " | ".join(f"{found[key] / found['constrained']:.4f}" for key in header)
            gap = optimality_gap(found["constrained"], found["bound"])
            print(f"| {name} | {r} | {shares} | {100 * gap:.1f} % | {found['seconds']:.2f} |", flush=True)


def with_few_entries(names: tuple[str, ...]) -> None:
    """Print the variance under a binding entry constraint, relative to that without one."""
    shares = (0.75, 0.5, 0.25)
    print("\n### With few entries\n")
    print("| data | r | " + " | ".join(f"s = {share:g} r m" for share in shares) + " | s = r |")
    print("|---|---|" + "---|" * (len(shares) + 1))
    for name in names:
        data, m = load(name)
        gram = gram_operator(data)
        for r in (30, 100):
            reached = [carried(gram, data, r, m, s) for s in (None, *(int(x * r * m) for x in shares), r)]
            print(
                f"| {name} | {r} | " + " | ".join(f"{x / reached[0]:.4f}" for x in reached[1:]) + " |",
                flush=True,
            )


def carried(gram: GramOperator, data: np.ndarray, r: int, m: int, entries: int | None) -> float:
    X = ConstrainedDSCOFS(r, n_components=m, entry_sparsity=entries).fit(data).components_.T
    return float(np.vdot(X, gram.matmat(np.asfortranarray(X))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three small data sets")
    names = QUICK_SETS if parser.parse_args().quick else REAL_SETS
    constrained(names)
    with_few_entries(names)


if __name__ == "__main__":
    main()
