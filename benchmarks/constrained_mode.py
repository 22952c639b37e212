"""Compare the variance that ConstrainedDSCOFS and its rivals carry.

    python benchmarks/constrained_mode.py [--quick] | python benchmarks/record.py solver_profiles

The variance along m orthonormal axes of the r columns that each method selects, relative to that of
``ConstrainedDSCOFS``, the gap that its certificate of optimality leaves, and its CPU seconds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from common import REAL_SETS, load, print_table
from threadpoolctl import threadpool_limits

from ufselect import DSCOFS, FSPCA, ConstrainedDSCOFS
from ufselect._columns import UnitRequest
from ufselect.dscofs.algorithm import optimality_gap, variance_bound
from ufselect.dscofs.row_search import improve_by_exchanges
from ufselect.gram import gram_operator
from ufselect.gram.spectrum import leading_sum


def compare(name: str, r: int) -> dict[str, object]:
    """Return a row of the table: r columns of a data set by each method."""
    from abess import SparsePCA

    data, m = load(name)
    gram, rules = gram_operator(data), UnitRequest.single(r, data.shape[1])

    def variance(columns: np.ndarray) -> float:
        return leading_sum(gram.subgram(columns), m)

    rng = np.random.default_rng(0)
    random = [rng.choice(data.shape[1], r, replace=False) for _ in range(200)]
    single = SparsePCA(support_size=r).fit(data, is_normal=False)
    began = time.process_time()
    fitted = ConstrainedDSCOFS(r, n_components=m).fit(data)
    seconds = time.process_time() - began
    penalty = DSCOFS(r, n_components=m, entry_sparsity=None, tol=1e-7, max_iter=1000).fit(data)
    ours = variance(np.flatnonzero(fitted.support_))
    variances = {
        "constrained": ours,
        "penalty": variance(np.flatnonzero(penalty.support_)),
        "FSPCA": variance(np.flatnonzero(FSPCA(r, n_components=m).fit(data).support_)),
        "abess": variance(
            np.flatnonzero(np.any(np.reshape(single.coef_, (data.shape[1], -1)) != 0, axis=1))[:r]
        ),
        "200 random": max(map(variance, random)),
        "swaps": improve_by_exchanges(gram, random[0], m, rules)[1],
    }
    gap = optimality_gap(ours, variance_bound(gram.eigenpairs(2 * m), gram.diag(), rules, m))
    shares = {method: f"{value / ours:.4f}" for method, value in variances.items()}
    return {"data": name, "r": r, **shares, "gap": f"{100 * gap:.1f} %", "CPU s": f"{seconds:.2f}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three small data sets")
    names = ("lung_discrete", "usps", "glioma") if parser.parse_args().quick else REAL_SETS
    with threadpool_limits(1, user_api="blas"):
        rows = [compare(name, r) for name in names for r in (30, 100)]
    print_table("The constrained problem", tuple(rows[0]), [tuple(row.values()) for row in rows])


if __name__ == "__main__":
    main()
