"""Algorithm 1 through what a fit returns: the paper's steps, descent, feasibility, and where it ends."""

from __future__ import annotations

import tracemalloc
import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.strategies import structured_data

from ufselect import DSCOFS
from ufselect.exceptions import (
    DominatedByUnitsWarning,
    InactiveConstraintWarning,
    RepeatedColumnsWarning,
)
from ufselect.gram import FormedGram, gram_operator

WARNINGS = (InactiveConstraintWarning, DominatedByUnitsWarning, RepeatedColumnsWarning)
SOLVERS = ["power", "rotated", "pencf"]


def fit(X, n_features=5, **parameters):
    """Fit DSCOFS, which may be cut short by max_iter or have a constraint that does not bind."""
    with warnings.catch_warnings():
        for each in (ConvergenceWarning, *WARNINGS):
            warnings.simplefilter("ignore", each)
        return DSCOFS(n_features, **{"n_components": 3, **parameters}).fit(X)


def loadings(selector):
    """Return X, Y and Z."""
    names = ("components_", "entry_sparse_components_", "row_sparse_components_")
    return [getattr(selector, name).T for name in names]


def scatter(X):
    centred = X - X.mean(axis=0)
    return centred.T @ centred


def polar(matrix):
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


def value_of(S, X, Y, Z, mu_entry, mu_row):
    return -np.sum(X * (S @ X)) + mu_entry * np.sum((X - Y) ** 2) + mu_row * np.sum((X - Z) ** 2)


class PaperAlgorithm:
    """A literal transcription of Algorithm 1 with power steps: SVDs, sorted entries, no extrapolation."""

    def __init__(self, S, start, n_rows, n_entries, mu_entry, mu_row, tau):
        self.S, self.n_rows, self.n_entries = S, n_rows, n_entries
        self.mu_entry, self.mu_row, self.tau = mu_entry, mu_row, tau
        X = polar(S @ start + (mu_entry + mu_row + tau) * start)  # a first X-step before any sparsity
        self.point = self.sparse_copies(X, X, X)

    def sparse_copies(self, X, Y, Z):
        W, V = ((X + self.tau * last) / (1 + self.tau) for last in (Y, Z))
        norms = np.linalg.norm(V, axis=1)
        Y = np.where(np.abs(W) >= np.sort(np.abs(W), axis=None)[-self.n_entries], W, 0)
        return X, Y, np.where((norms >= np.sort(norms)[-self.n_rows])[:, None], V, 0)

    def step(self):
        X, Y, Z = self.point
        X = polar(self.S @ X + self.mu_entry * Y + self.mu_row * Z + self.tau * X)
        self.point = self.sparse_copies(X, Y, Z)

    @property
    def value(self):
        return value_of(self.S, *self.point, self.mu_entry, self.mu_row)


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    return rng.standard_normal((40, 9)) * np.linspace(1, 3, 9) + 5


@pytest.fixture
def start():
    return np.linalg.qr(np.random.default_rng(2).standard_normal((9, 3)))[0]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array, lambda X: X[:7]])
def test_the_first_iterations_are_the_papers(data, start, store):
    X = store(data)
    S = scatter(X.toarray() if sparse.issparse(X) else X)
    penalties = {"mu_entry": 0.2 * S[0, 0], "mu_row": 0.3 * S[0, 0], "tau": 0.5}
    paper = PaperAlgorithm(S, start, n_rows=4, n_entries=8, **penalties)
    values = [paper.value]
    for n_iter in (1, 2, 3):
        paper.step()
        values.append(paper.value)
        selector = fit(X, 4, entry_sparsity=8, init=start, penalty_scale="absolute", x_solver="power",
                       max_iter=n_iter, tol=1e-3, **penalties)  # fmt: skip
        for ours, theirs in zip(loadings(selector), paper.point, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-10)
        np.testing.assert_allclose(selector.objective_history_, values, rtol=1e-10)
    # Momentum sets in at a relative decrease of 1e-3, later than these iterations.
    assert np.all(-np.diff(values) > 1e-3 * (1 + np.abs(values[:-1])))


@pytest.mark.parametrize("x_solver", SOLVERS)
@settings(max_examples=25)
@given(
    data=structured_data(),
    mu_row=st.sampled_from([0.0, 1e-4, 0.1, 10.0, 1e4]),
    mu_entry=st.sampled_from([0.0, 1e-4, 0.1, 10.0, 1e4]),
    init=st.sampled_from(["pca", "random"]),
    seed=st.integers(0, 100),
)
def test_the_result_is_feasible_and_its_objective_the_formula(x_solver, data, mu_row, mu_entry, init, seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, data.shape[1] + 1))
    n_entries = int(rng.integers(1, data.shape[1] + 1))
    selector = fit(data, n_rows, n_components=1, entry_sparsity=n_entries, mu_row=mu_row, mu_entry=mu_entry,
                   init=init, random_state=seed, x_solver=x_solver, max_iter=8, tol=1e-9)  # fmt: skip
    X, Y, Z = loadings(selector)
    assert np.all(np.diff(selector.objective_history_) <= 0)
    np.testing.assert_allclose(X.T @ X, 1, atol=1e-8)
    assert np.count_nonzero(Z.any(axis=1)) <= n_rows
    assert np.count_nonzero(Y) <= n_entries
    S = scatter(data)
    unit = np.linalg.eigvalsh(S)[-1]
    value = value_of(S, X, Y, Z, mu_entry * unit, mu_row * unit)
    assert selector.objective_history_[-1] == pytest.approx(value, rel=1e-8, abs=1e-8 * unit)


@pytest.mark.parametrize("name", ["lung_discrete", "usps", "breast_cancer"])
@pytest.mark.parametrize("init", ["pca", "random"])
def test_the_objective_never_rises_on_real_data(real, name, init):
    X, labels = real(name)
    selector = fit(X, min(100, X.shape[1] // 2), n_components=np.unique(labels).size, entry_sparsity=0.1,
                   init=init, n_init=2, random_state=0, max_iter=80, tol=0.0)  # fmt: skip
    assert np.all(np.diff(selector.objective_history_) <= 0)
    assert selector.components_ @ selector.components_.T == pytest.approx(np.eye(np.unique(labels).size))


@pytest.mark.parametrize("tau", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("mu", [1e-3, 0.1, 10.0])
def test_plain_steps_lower_the_objective_by_what_theorem_3_1_promises(data, start, mu, tau):
    S = scatter(data)
    unit = np.linalg.eigvalsh(S)[-1]
    fits = [fit(data, 4, entry_sparsity=8, init=start, mu_entry=mu, mu_row=mu, tau=tau, x_solver="power",
                max_iter=n_iter) for n_iter in (1, 2, 3)]  # fmt: skip
    for before, after in pairwise(fits):
        if after.n_iter_ == before.n_iter_:
            break
        X, Y, Z = (new - old for new, old in zip(loadings(after), loadings(before), strict=True))
        promised = np.vdot(X, S @ X) + tau * unit * (np.sum(X**2) + mu * (np.sum(Y**2) + np.sum(Z**2)))
        decrease = before.objective_history_[-1] - after.objective_history_[-1]
        assert decrease >= promised - 1e-11 * unit


@pytest.mark.parametrize("x_solver", ["rotated", "pencf"])
def test_the_other_x_steps_solve_their_problems(data, start, x_solver):
    """PenCF minimises over all orthonormal X, the rotation over those with the span of the power step."""
    S = scatter(data)
    unit = np.linalg.eigvalsh(S)[-1]
    settings = {"entry_sparsity": 8, "init": start, "mu_entry": 0.2, "mu_row": 0.3, "tau": 1e-3, "tol": 0.0}
    before, after = (fit(data, 4, x_solver=x_solver, max_iter=k, **settings) for k in (1, 2))
    X, Y, Z = loadings(before)
    new = loadings(after)[0]
    pull = unit * (0.2 * Y + 0.3 * Z + 1e-3 * X)
    power = polar(S @ X + pull)

    def x_objective(point):
        return -np.sum(point * (S @ point)) - 2 * np.sum(point * pull)

    rng = np.random.default_rng(0)
    if x_solver == "pencf":
        ascent = S @ new + pull
        tangent = ascent - new @ (new.T @ ascent + ascent.T @ new) / 2
        assert np.linalg.norm(tangent) <= 1e-5 * np.linalg.norm(ascent)
        rivals = [power, polar(new + 0.1 * rng.standard_normal(new.shape))]
    else:
        np.testing.assert_allclose(new @ new.T, power @ power.T, atol=1e-10)
        pull -= unit * 1e-3 * X  # the rotation follows the sparse copies
        rivals = [power, *(new @ polar(rng.standard_normal((3, 3))) for _ in range(5))]
    assert x_objective(new) <= min(map(x_objective, rivals)) + 1e-9 * unit


def test_auto_rotates_for_small_penalties_only(data):
    for mu, same in ((1e-3, "rotated"), (0.5, "power")):
        penalties = {"mu_entry": mu, "mu_row": mu / 10, "entry_sparsity": 8}
        auto, alike = (fit(data, x_solver=solver, **penalties) for solver in ("auto", same))
        np.testing.assert_array_equal(auto.components_, alike.components_)
    free = {"entry_sparsity": None, "mu_row": 1e-3}  # row norms do not change with a rotation
    np.testing.assert_array_equal(
        fit(data, x_solver="auto", **free).components_, fit(data, x_solver="power", **free).components_
    )


def test_rotation_has_settled_long_before_plain_steps_for_small_penalties(real):
    X, _ = real("usps")
    gram = gram_operator(X)
    settings = {"n_components": 10, "entry_sparsity": 256, "mu_entry": 1e-4, "mu_row": 1e-4, "tau": 1e-7}
    settled = fit(gram, 100, x_solver="rotated", tol=1e-14, max_iter=1000, **settings)
    assert settled.converged_
    plain = fit(gram, 100, x_solver="power", tol=1e-14, max_iter=5 * settled.n_iter_, **settings)
    gain = plain.objective_history_[0] - settled.objective_history_[-1]
    assert plain.objective_history_[-1] > settled.objective_history_[-1] + 0.05 * gain


@pytest.mark.parametrize("mu", [0.01, 1e4])
@pytest.mark.parametrize("tau", [1e-3, 1e4])
def test_gradient_steps_of_pencf_have_one_budget_for_the_whole_run(tau, mu):
    class CountingGram(FormedGram):
        n_products = 0

        def matmat(self, vectors):
            self.n_products += 1
            return super().matmat(vectors)

    gram = CountingGram(scatter(np.random.default_rng(0).standard_normal((2, 7))), 2)
    selector = fit(gram, 3, n_components=1, entry_sparsity=3, mu_entry=mu, mu_row=0.1, tau=tau, init="random",
                   random_state=1, x_solver="pencf", tol=0.0)  # fmt: skip
    assert gram.n_products <= 10_000 + 2 * selector.n_iter_ + 30
    assert np.all(np.diff(selector.objective_history_) <= 0)


def test_brute_force_over_supports_is_never_beaten():
    """With huge penalties the result is feasible for the constrained problem, so no better than its best."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 6)) * np.array([3, 1, 2, 1, 1, 2.5])
    selector = fit(X, 3, n_components=2, entry_sparsity=None, mu_row=50.0, max_iter=20_000, tol=1e-14)
    S = scatter(X)
    best = max(np.linalg.eigvalsh(S[np.ix_(c, c)])[-2:].sum() for c in combinations(range(6), 3))
    Z = selector.row_sparse_components_
    assert 0.8 * best <= np.sum(Z * (Z @ S)) <= best * (1 + 1e-9)


def test_small_penalties_leave_the_pca_solution_and_large_ones_the_start():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 12)) * np.geomspace(4, 1, 12)
    axes = np.linalg.eigh(scatter(X))[1][:, -2:]
    small = fit(X, 3, n_components=2, entry_sparsity=10, mu_row=1e-9, mu_entry=1e-9, tol=1e-12).components_
    np.testing.assert_allclose(small.T @ small, axes @ axes.T, atol=1e-5)
    start = np.linalg.qr(rng.standard_normal((12, 2)))[0]
    large = fit(X, 4, n_components=2, entry_sparsity=None, mu_row=1e6, init=start, max_iter=20)
    assert set(np.flatnonzero(large.support_)) == set(np.argsort(-np.linalg.norm(start, axis=1))[:4])


def test_extrapolation_saves_steps_and_ends_where_a_plain_step_stays():
    n_plain = n_fast = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 60)) + rng.standard_normal((200, 60))
        S, start = scatter(X), np.linalg.qr(rng.standard_normal((60, 3)))[0]
        unit = np.linalg.eigvalsh(S)[-1]
        paper = PaperAlgorithm(S / unit, start, 15, 60, mu_entry=0.1, mu_row=0.1, tau=1e-3)
        values = [np.inf, paper.value]
        while values[-2] - values[-1] > 1e-9 * (1 + abs(values[-1])):
            paper.step()
            values.append(paper.value)
        settings = {"entry_sparsity": 60, "mu_entry": 0.1, "mu_row": 0.1, "x_solver": "power", "init": start}
        fast = fit(X, 15, max_iter=5000, tol=1e-9, **settings)
        n_plain, n_fast = n_plain + len(values) - 2, n_fast + fast.n_iter_
        assert fast.objective_history_[-1] / unit <= values[-1] + 5e-3 * abs(values[-1])
        paper.point = loadings(fit(X, 15, max_iter=5000, tol=1e-15, **settings))
        settled = paper.point[0]
        paper.step()
        np.testing.assert_allclose(paper.point[0], settled, atol=1e-4)
    assert n_fast < 0.7 * n_plain


def test_a_warning_says_why_a_run_ended(data):
    X = np.random.default_rng(0).standard_normal((50, 10))
    assert fit(X, 3, entry_sparsity=10).converged_
    with pytest.warns(ConvergenceWarning, match="max_iter was reached"):
        cut = DSCOFS(3, n_components=2, entry_sparsity=5, max_iter=1, tol=1e-12).fit(X)
    with pytest.warns(ConvergenceWarning, match="finer than the working precision"):
        blurred = DSCOFS(3, n_components=2, entry_sparsity=5, max_iter=2000, tol=1e-9).fit(np.float32(X))
    assert not cut.converged_
    assert not blurred.converged_
    assert fit(X, 3, entry_sparsity=10, max_iter=10_000, tol=0.0).converged_  # to a standstill


def test_memory_of_the_iteration_does_not_grow():
    """The extrapolation remembers a fixed number of matrices; everything else of a step is released."""
    X = np.random.default_rng(0).standard_normal((300, 250)) * np.geomspace(3, 1, 250)
    gram = gram_operator(X)
    gram.eigenpairs(8)
    tracemalloc.start()
    try:
        fit(gram, 40, n_components=8, entry_sparsity=300, max_iter=300, tol=0.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * 250 * 250 * 8 + 80 * 250 * 8 * 8  # 300 of each of a step's matrices, if it kept any
