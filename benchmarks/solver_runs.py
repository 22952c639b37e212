"""The problems of the solver profiles, and every solver on them with what it spent on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from common import CountingGram, load

from ufselect.gram import gram_operator
from ufselect.sets import entry_sparse, row_sparse, stiefel
from ufselect.solvers import (
    DoubleSparsePCA,
    PamState,
    PenCF,
    PowerStep,
    ProximalAlternatingMinimisation,
    RotatedPowerStep,
    StiefelNewton,
)
from ufselect.solvers.dscofs import extrapolation, pencf
from ufselect.solvers.dscofs.model import StiefelModel, norm
from ufselect.solvers.dscofs.pam import EARLY_ONSET, XSolver
from ufselect.solvers.dscofs.start import Start, best_random_start, pca_start
from ufselect.solvers.dscofs.x_steps import INEXACT, make_x_solver

N_ROWS = 100
LADDER = (1e-1, 1e-3, 1e-5, 1e-8)
REST = 1e-13  # relative decrease of the objective that ends a fit
TAU = 1e-3  # the default of DSCOFS, in units of the largest eigenvalue


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
    problem: Problem, budget: float, choose: Callable[[DoubleSparsePCA], XSolver]
) -> list[Point]:
    """Run a fit until its objective comes to rest, noting every iteration."""
    problem.gram.n_products = 0
    began = time.process_time()
    x_solver = choose(problem.penalised)
    method = ProximalAlternatingMinimisation(problem.penalised, problem.start, x_solver, EARLY_ONSET)
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


class PlainPower(PowerStep):
    extrapolates = False


class PymanoptStep:
    """The X-step by one of pymanopt's optimizers."""

    extrapolates = False

    def __init__(self, optimizer: str, budget: float) -> None:
        self.optimizer = optimizer
        self.budget = budget

    def solve(self, problem: DoubleSparsePCA, state: PamState) -> np.ndarray:
        linear = problem.linear(state.X, state.Y, state.Z)
        model = StiefelModel.at(problem.gram, linear, state.X, state.product)
        return stiefel.project(run_pymanopt(model, INEXACT, self.budget, self.optimizer))


def fit_solvers(budget: float) -> dict[str, Solver]:
    kinds: dict[str, Callable[[DoubleSparsePCA], XSolver]] = {
        "auto (default)": partial(make_x_solver, "auto"),
        "power": lambda problem: PlainPower(),
        "accelerated": lambda problem: PowerStep(),
        "rotated": lambda problem: RotatedPowerStep(),
        "newton": partial(make_x_solver, "newton"),
        "pencf": lambda problem: PenCF(),
        "pymanopt TR": lambda problem: PymanoptStep("TrustRegions", budget),
        "pymanopt CG": lambda problem: PymanoptStep("ConjugateGradient", budget),
    }
    return {name: partial(trace_of_fit, choose=choose) for name, choose in kinds.items()}


# The first X-step of each fit


def x_step(problem: Problem) -> StiefelModel:
    """Return the X-step at the start with the Y and Z that belong to it."""
    X, penalised = problem.start.point, problem.penalised
    pull = penalised.pull(
        entry_sparse.project(X, penalised.n_entries)[0], row_sparse.project(X, penalised.n_rows)[0]
    )
    return StiefelModel.at(problem.gram, pull, X, problem.start.product)


def trace(
    problem: Problem, budget: float, path: Callable[[StiefelModel], Iterator[StiefelModel]]
) -> list[Point]:
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


def power_steps(model: StiefelModel, *, accelerated: bool, rotated: bool) -> Iterator[StiefelModel]:
    """Make power steps, plain or extrapolated with the safeguard, until the gradient has all but vanished."""
    target = 1e-10 * norm(model.gradient)
    if rotated:
        model = model.rotated()
        yield model
    trail = None
    while norm(model.gradient) > target:
        image = model.ascent
        trial = extrapolation.extrapolate(trail, image) if trail is not None else image
        X = stiefel.project(trial)
        if rotated:
            X = stiefel.turned_towards(X, model.linear)
        moved = StiefelModel.at(model.gram, model.linear, X, model.gram.matmat(X))
        if trial is not image and moved.objective > model.objective:
            trail = None
            continue
        if accelerated:
            trail = (
                extrapolation.begin(trial, moved.ascent, image)
                if trail is None
                else trail.follow(trial, moved.ascent, image, is_smooth=True)
            )
        if moved.objective >= model.objective:
            break
        model = moved
        yield model


def trace_of_runs(
    problem: Problem, budget: float, run: Callable[[Problem, StiefelModel, float, float], np.ndarray]
) -> list[Point]:
    """Run a solver afresh to finer and finer tolerances until it takes more than its budget."""
    points = [Point(0, 0.0, x_step(problem).objective)]
    for tol in LADDER:
        problem.gram.n_products = 0
        began = time.process_time()
        first = x_step(problem)
        X = stiefel.project(run(problem, first, tol, budget))
        seconds, products = time.process_time() - began, problem.gram.n_products
        reached = StiefelModel.at(problem.gram, first.linear, X, problem.gram.matmat(X))
        points.append(Point(products, seconds, reached.objective))
        if seconds > budget:
            break
    return points


def run_pencf(problem: Problem, model: StiefelModel, tol: float, budget: float) -> np.ndarray:
    pencf.RELATIVE_TOL = tol
    bare = replace(problem.penalised, mu_row=0.0, mu_entry=0.0, tau=0.0)
    state = PamState(model.X, model.X, model.X, model.product, model.ascent, np.inf, None, None)
    return PenCF().solve(bare, state)


def run_pymanopt(model: StiefelModel, tol: float, budget: float, optimizer: str) -> np.ndarray:
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
        max_time=budget, min_gradient_norm=tol * norm(model.gradient), max_iterations=10_000, verbosity=0
    )
    return np.asfortranarray(solver.run(task, initial_point=np.ascontiguousarray(model.X)).point)


PATHS: dict[str, Callable[[StiefelModel], Iterator[StiefelModel]]] = {
    "power": partial(power_steps, accelerated=False, rotated=False),
    "accelerated": partial(power_steps, accelerated=True, rotated=False),
    "rotated": partial(power_steps, accelerated=True, rotated=True),
    "newton": StiefelNewton(tol=1e-10).path,
}


def x_step_solvers(budget: float) -> dict[str, Solver]:
    return {name: partial(trace, path=path) for name, path in PATHS.items()} | {
        "pencf": partial(trace_of_runs, run=run_pencf),
        "pymanopt TR": partial(trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "TrustRegions")),
        "pymanopt CG": partial(
            trace_of_runs, run=lambda p, m, t, b: run_pymanopt(m, t, b, "ConjugateGradient")
        ),
    }
