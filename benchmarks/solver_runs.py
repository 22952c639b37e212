"""The problems of the solver profiles, and every solver on them with what it spent on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from common import CountingGram, load

from ufselect._utils.arrays import polar_factor, rotate_towards
from ufselect.gram import GramOperator, gram_operator
from ufselect.methods._sets import project_entries, project_rows
from ufselect.methods.dscofs.pam import EARLY_ONSET, PamState, ProximalAlternatingMinimisation, Trail, XStep
from ufselect.methods.dscofs.problem import DoubleSparsePCA
from ufselect.methods.dscofs.start import Start, best_random_start, pca_start
from ufselect.methods.dscofs.x_steps import PenCF, make_x_step, power_step, rotated_power_step

N_ROWS = 100
LADDER = (1e-1, 1e-3, 1e-5, 1e-8)
REST = 1e-13  # relative decrease of the objective that ends a fit
TAU = 1e-3  # the default of DSCOFS, in units of the largest eigenvalue
# Between two outer iterations the supports move, so a tenfold fall of the gradient is enough.
INEXACT = 0.1


@dataclass(frozen=True)
class Problem:
    """A problem on one data set and where to start on it."""

    label: str
    gram: CountingGram
    penalised: DoubleSparsePCA
    start: Start


@dataclass(frozen=True)
class Point:
    """What a solver had reached after so many products and CPU seconds."""

    products: int
    seconds: float
    objective: float


Solver = Callable[[Problem, float], list[Point]]


def problems(names: tuple[str, ...], mus: tuple[float, ...]) -> Iterator[Problem]:
    for name in names:
        data, m = load(name)
        gram = CountingGram(gram_operator(data))
        spectrum = gram.eigenpairs(m)
        unit = float(spectrum.values[0])
        starts = {
            "pca": pca_start(spectrum),
            "random": best_random_start(gram, m, 10, np.random.default_rng(0)),
        }
        for kind, start in starts.items():
            start = replace(start, point=np.asfortranarray(start.point), product=gram.matmat(start.point))
            for alpha in (0.1, 0.5):
                entries = max(m, int(alpha * start.point.size))
                for mu in mus:
                    penalised = DoubleSparsePCA(
                        gram=gram,
                        n_rows=N_ROWS,
                        n_entries=entries,
                        mu_row=mu * unit,
                        mu_entry=mu * unit,
                        tau=TAU * unit,
                        memory=TAU,
                        unit=unit,
                        leading_variance=float(spectrum.values.mean()),
                    )
                    yield Problem(f"{name} μ={mu:g} α={alpha:g} {kind}", gram, penalised, start)


# Whole fits


def trace_of_fit(
    problem: Problem,
    budget: float,
    choose: Callable[[DoubleSparsePCA], XStep],
    onset: float = 0.0,
) -> list[Point]:
    """Run a fit until its objective comes to rest, noting every iteration."""
    problem.gram.n_products = 0
    began = time.process_time()
    x_step = choose(problem.penalised)
    method = ProximalAlternatingMinimisation(problem.penalised, problem.start, x_step, onset)
    state, points = method.init(), []
    while True:
        seconds = time.process_time() - began
        points.append(Point(problem.gram.n_products, seconds, state.objective))
        if seconds > budget:
            return points
        moved = method.step(state)
        if state.objective - moved.objective <= REST * abs(state.objective):
            return points
        state = moved


def pymanopt_step(optimizer: str, budget: float) -> XStep:
    """Return the X-step by one of pymanopt's optimizers; its trust regions are the second-order answer."""

    def step(problem: DoubleSparsePCA, state: PamState, ascent: np.ndarray) -> np.ndarray:
        model = Subproblem(problem.gram, ascent - state.product, state.X, state.product)
        return polar_factor(run_pymanopt(model, INEXACT, budget, optimizer))

    return step


def fit_solvers(budget: float) -> dict[str, Solver]:
    extrapolated = partial(trace_of_fit, onset=EARLY_ONSET)
    return {
        "auto (default)": partial(extrapolated, choose=partial(make_x_step, "auto")),
        "power": partial(trace_of_fit, choose=lambda problem: power_step),
        "accelerated": partial(extrapolated, choose=lambda problem: power_step),
        "rotated": partial(extrapolated, choose=lambda problem: rotated_power_step),
        "pencf": partial(trace_of_fit, choose=lambda problem: PenCF()),
        "pymanopt TR": partial(trace_of_fit, choose=lambda problem: pymanopt_step("TrustRegions", budget)),
        "pymanopt CG": partial(
            trace_of_fit, choose=lambda problem: pymanopt_step("ConjugateGradient", budget)
        ),
    }


# The first X-step of each fit


@dataclass(frozen=True)
class Subproblem:
    """The X-step, minimise −Tr(XᵀSX) − 2 Tr(XᵀB) over orthonormal X, at a point: B, X and S @ X."""

    gram: GramOperator
    linear: np.ndarray
    X: np.ndarray
    product: np.ndarray

    @property
    def ascent(self) -> np.ndarray:
        """SX + B."""
        return self.product + self.linear

    @property
    def objective(self) -> float:
        return -float(np.vdot(self.X, self.product + 2 * self.linear))

    @property
    def slope(self) -> float:
        """The norm of the Riemannian gradient."""
        mixed = self.X.T @ self.ascent
        return 2 * float(np.linalg.norm(self.ascent - self.X @ (mixed + mixed.T) / 2))

    def at(self, X: np.ndarray) -> Subproblem:
        """Return the same at another point."""
        return replace(self, X=X, product=self.gram.matmat(X))

    def rotated(self) -> Subproblem:
        """Return the same at the best point with the same span, which costs no product."""
        rotation = polar_factor(self.X.T @ self.linear)
        turned = replace(self, X=self.X @ rotation, product=self.product @ rotation)
        return turned if turned.objective <= self.objective else self


def x_step(problem: Problem) -> Subproblem:
    """Return the X-step at the start with the Y and Z that belong to it."""
    X, penalised = problem.start.point, problem.penalised
    pull = penalised.pull(project_entries(X, penalised.n_entries)[0], project_rows(X, penalised.n_rows)[0])
    return Subproblem(problem.gram, pull, X, problem.start.product)


def trace(problem: Problem, budget: float, path: Callable[[Subproblem], Iterator[Subproblem]]) -> list[Point]:
    """Note every point of a run."""
    problem.gram.n_products = 0
    began = time.process_time()
    first = x_step(problem)
    points = [Point(0, 0.0, first.objective)]
    for model in path(first):
        points.append(Point(problem.gram.n_products, time.process_time() - began, model.objective))
        if points[-1].seconds > budget:
            break
    return points


def power_steps(model: Subproblem, *, accelerated: bool, rotated: bool) -> Iterator[Subproblem]:
    """Make power steps, plain or extrapolated with the safeguard, until the gradient has all but vanished."""
    target = 1e-10 * model.slope
    if rotated:
        model = model.rotated()
        yield model
    trail = None
    while model.slope > target:
        image = model.ascent
        trial = image if trail is None else trail.extrapolate(image)
        X = polar_factor(trial)
        if rotated:
            X = rotate_towards(X, model.linear)
        moved = model.at(X)
        if trial is not image and moved.objective > model.objective:
            trail = None
            continue
        if accelerated and trail is None:
            trail = Trail(moved.ascent - image, moved.ascent - image)
        elif trail is not None:
            trail = trail.follow(trial, moved.ascent, image, is_smooth=True)
        if moved.objective >= model.objective:
            break
        model = moved
        yield model


def trace_of_runs(
    problem: Problem, budget: float, run: Callable[[Problem, Subproblem, float, float], np.ndarray]
) -> list[Point]:
    """Run a solver afresh to finer and finer tolerances until it takes more than its budget."""
    points = [Point(0, 0.0, x_step(problem).objective)]
    for tol in LADDER:
        problem.gram.n_products = 0
        began = time.process_time()
        first = x_step(problem)
        X = polar_factor(run(problem, first, tol, budget))
        seconds, products = time.process_time() - began, problem.gram.n_products
        points.append(Point(products, seconds, first.at(X).objective))
        if seconds > budget:
            break
    return points


def run_pencf(problem: Problem, model: Subproblem, tol: float, budget: float) -> np.ndarray:
    bare = replace(problem.penalised, mu_row=0.0, mu_entry=0.0, tau=0.0)
    state = PamState(model.X, model.X, model.X, model.product, model.ascent, np.inf)
    return PenCF(tol)(bare, state, model.ascent)


def run_pymanopt(model: Subproblem, tol: float, budget: float, optimizer: str) -> np.ndarray:
    import pymanopt

    manifold = pymanopt.manifolds.Stiefel(*model.X.shape)

    @pymanopt.function.numpy(manifold)
    def cost(X):
        return -float(np.vdot(X, model.gram.matmat(X) + 2 * model.linear))

    @pymanopt.function.numpy(manifold)
    def gradient(X):
        return -2 * (model.gram.matmat(X) + model.linear)

    @pymanopt.function.numpy(manifold)
    def hessian(X, direction):
        return -2 * model.gram.matmat(direction)

    task = pymanopt.Problem(manifold, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
    solver = getattr(pymanopt.optimizers, optimizer)(
        max_time=budget, min_gradient_norm=tol * model.slope, max_iterations=10_000, verbosity=0
    )
    return np.asfortranarray(solver.run(task, initial_point=np.ascontiguousarray(model.X)).point)


PATHS: dict[str, Callable[[Subproblem], Iterator[Subproblem]]] = {
    "power": partial(power_steps, accelerated=False, rotated=False),
    "accelerated": partial(power_steps, accelerated=True, rotated=False),
    "rotated": partial(power_steps, accelerated=True, rotated=True),
}


def x_step_solvers(budget: float) -> dict[str, Solver]:
    return {name: partial(trace, path=path) for name, path in PATHS.items()} | {
        "pencf": partial(trace_of_runs, run=run_pencf),
        "pymanopt TR": partial(trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "TrustRegions")),
        "pymanopt CG": partial(
            trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "ConjugateGradient")
        ),
    }
