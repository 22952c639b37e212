"""Options that several commands take, declared once and added to a command's signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from ufselect.cli import options as opt

Command = Callable[..., None]


def shared(**options: tuple[Any, Any]) -> dict[str, inspect.Parameter]:
    """Return options, each given as its annotation and its default, as parameters of a function."""
    return {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    }


def taking(
    command: Command,
    options: Mapping[str, inspect.Parameter],
    used: Callable[[dict[str, Any]], dict[str, Any]],
) -> Command:
    """Return a command that also takes ``options``; ``used`` turns their values into its arguments."""
    hints = get_type_hints(command, include_extras=True)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        for parameter in inspect.signature(command).parameters.values()
    ]
    given = used({name: option.default for name, option in options.items()})
    parameters = [*(p for p in own if p.name not in given), *options.values()]

    @wraps(command)
    def called(**values: Any) -> None:
        taken = {name: values.pop(name) for name in options}
        command(**values, **used(taken))

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


DEBUG = shared(
    debug=(Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")], False)
)
AS_WRITTEN = shared(
    id_column=(opt.IdColumn, None),
    label_column=(opt.LabelColumn, None),
    separator=(opt.Separator, None),
    decimal=(opt.Decimal, None),
    header=(opt.Header, None),
    guess=(opt.Guess, True),
    missing=(opt.Missing, None),
    comment=(opt.Comment, None),
    transpose=(opt.Transpose, False),
    sheet=(opt.Sheet, None),
    layer=(opt.Layer, None),
)
READING = {**AS_WRITTEN, **shared(impute=(opt.Impute, None))}
ROWS = shared(batch_column=(opt.BatchColumn, None), weight_column=(opt.WeightColumn, None))
PREPARING = shared(scale=(opt.Scale, "auto"), normalize=(opt.Normalize, "none"), seed=(opt.Seed, 0))

WISHING = shared(
    keep=(opt.Keep, None),
    exclude=(opt.Exclude, None),
    max_correlation=(opt.MaxCorrelation, 0.999),
    categorical=(opt.Categorical, None),
)


def with_debug(command: Command) -> Command:
    """Let a command take ``--debug``, which the program that runs it acts on."""
    return taking(command, DEBUG, lambda values: {})


def reads_tables(command: Command) -> Command:
    """Let a command take the options of reading; they arrive as the dictionary ``reading``."""
    return taking(command, READING, lambda values: {"reading": _reading(values)})


def reads_as_written(command: Command) -> Command:
    """Let a command take the options of reading without those that change values, for it changes none."""
    return taking(command, AS_WRITTEN, lambda values: {"reading": _reading(values)})


def knows_rows(command: Command) -> Command:
    """Let a command take columns of batches and weights; they arrive as the dictionary ``row_columns``."""
    return taking(command, ROWS, lambda values: {"row_columns": values})


def prepares_tables(command: Command) -> Command:
    """Let a command take scaling, normalisation and seed; they arrive as the dictionary ``preparing``."""
    return taking(command, PREPARING, lambda values: {"preparing": _preparing(values)})


def wishes_columns(command: Command) -> Command:
    """Let a command take wishes about columns; they arrive as the dictionary ``wishing``."""
    return taking(command, WISHING, lambda values: {"wishing": _wishing(values)})


def _wishing(values: dict[str, Any]) -> dict[str, Any]:
    opt.choice(values["categorical"], opt.CATEGORICAL_CHOICES, "--categorical")
    if not 0 < values["max_correlation"] <= 1:
        raise typer.BadParameter(
            "it must be above 0 and at most 1; 1 is no limit.", param_hint="--max-correlation"
        )
    return values


def _reading(values: dict[str, Any]) -> dict[str, Any]:
    opt.choice(values.get("impute"), opt.IMPUTE_CHOICES, "--impute")
    opt.choice(values["decimal"], (".", ","), "--decimal")
    return {
        **values,
        "separator": opt.mark(values["separator"]),
        "missing": tuple(values["missing"] or ()),
    }


def _preparing(values: dict[str, Any]) -> dict[str, Any]:
    opt.choice(values["scale"], opt.SCALE_CHOICES, "--scale")
    opt.choice(values["normalize"], opt.NORMALIZE_CHOICES, "--normalize")
    return values
