"""What ``select`` and ``tune`` do: read, fit, judge, write, print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from ufselect.cli.console import errors, marks, note, output, working
from ufselect.cli.data import Opened, open_data
from ufselect.cli.names import plain_text
from ufselect.cli.outputs import Outputs, explained, planned, write_outputs
from ufselect.cli.prepare import AllRows
from ufselect.cli.row_facts import asked_of_rows, check_rows
from ufselect.cli.run import (
    AUTO,
    OWN_PARAMETERS,
    Request,
    Run,
    check_held_out,
    make_selector,
    run_selection,
)
from ufselect.cli.run_record import data_of, read_record, record_of, request_of, same_features
from ufselect.cli.show import candidate_table, cluster_table, count_table, feature_table, pixel_map
from ufselect.cli.verdicts import verdicts
from ufselect.cli.wishes import named_in
from ufselect.io import ReadOptions, Table, TableError
from ufselect.io.writing import separator_note
from ufselect.selectors.gram_selector import GramSelector

FEW_CANDIDATES, ALL_CANDIDATES = 3, 1000  # printed by select, and by tune
WIDEST_PICTURE = 40  # pixels of two characters on a terminal of 80


@dataclass(frozen=True)
class Call:
    """What was typed.

    Attributes
    ----------
    data : str or None
        The table; None takes that of the record to repeat.
    request, reading, outputs
        What to do, how to read, what to write.
    image : tuple of int or None
        Rows and columns, where columns are pixels.
    resamples : int
        Refits for the page.
    repeat : Path or None
        A record to repeat.
    new_data : bool
        Whether the record may be repeated on other data.
    stream : bool or None
        Whether to read in blocks; None decides by size.
    as_json, quiet : bool
        Whether to print JSON alone, or nothing.
    most_candidates : int
        How many of those among which a method was chosen are printed.
    command : sequence of str
        The words typed, for the record.
    """

    data: str | None
    request: Request
    reading: ReadOptions
    outputs: Outputs
    image: tuple[int, int] | None = None
    resamples: int = 10
    repeat: Path | None = None
    new_data: bool = False
    stream: bool | None = None
    as_json: bool = False
    quiet: bool = False
    most_candidates: int = FEW_CANDIDATES
    command: Sequence[str] = ()

    @property
    def is_silent(self) -> bool:
        return self.as_json or self.quiet


def request_from(
    method: str,
    n_features: int | float | str,
    parameters: Mapping[str, Any],
    goal: str | None,
    preparing: Mapping,
    wishing: Mapping,
) -> Request:
    """Return a request from what was typed.

    Raises
    ------
    typer.BadParameter
        If a goal is given to a method that knows none.
    """
    name = AUTO if method.lower() == "auto" else method
    request = Request(
        name,
        n_features,
        parameters,
        preparing["seed"],
        preparing["scale"],
        preparing["normalize"],
        named_in(wishing["keep"], "--keep"),
        named_in(wishing["exclude"], "--exclude"),
        wishing["max_correlation"],
    )
    if goal is None:
        return request
    if "goal" not in make_selector(replace(request, parameters={})).get_params():
        raise typer.BadParameter(
            f"{method} does not choose by a goal; use --method auto.", param_hint="--for"
        )
    return replace(request, parameters={**parameters, "goal": goal})


def run_select(call: Call) -> None:
    """Do what was asked."""
    earlier = None
    if call.repeat is not None:
        earlier = read_record(call.repeat)
        call = _repeating(call, earlier)
    if call.data is None:
        raise typer.BadParameter("name a table, as in: ufselect select cells.csv -k 50", param_hint="DATA")
    check_held_out(call.request, bool(call.stream))
    check_rows(make_selector(call.request), *asked_of_rows(call.reading))
    outputs = planned(call.outputs, call.data)
    opened = open_data(
        call.data, call.reading, call.image, call.is_silent, call.stream, call.request.normalize
    )
    if earlier is not None:
        check_same(opened.table, earlier, call.new_data)
    opened = _with_separator_told(opened, outputs, call.is_silent)
    run = fit(opened, call.request, call.is_silent)
    with working("Looking at the result …"):
        explanation = explained(run, call.resamples if outputs.report is not None else 0)
    lines = verdicts(run, explanation)
    found = record_of(run, call.reading, lines, call.command)
    if earlier is not None:
        found["repeats"] = {"record": str(call.repeat), "same_features": same_features(found, earlier)}
    with working("Writing …"):
        write_outputs(run, found, explanation, outputs)
    try:
        if call.as_json:
            print_json(found)
        elif not call.quiet:
            show(run, found, outputs, call.most_candidates)
    except KeyboardInterrupt as stop:
        stop.written = list(outputs.files().values())  # type: ignore[attr-defined]
        raise


def _with_separator_told(opened: Opened, outputs: Outputs, silent: bool) -> Opened:
    if outputs.table is None or outputs.to_standard_output:
        return opened
    words = separator_note(opened.table, outputs.table)
    if words is None:
        return opened
    if not silent:
        note([words])
    return replace(opened, table=opened.table.with_notes(words))


def print_json(found: Any) -> None:
    """Print JSON that every encoding can hold."""
    output().print(json.dumps(found, indent=2), markup=False, highlight=False, soft_wrap=True)


def _repeating(call: Call, earlier: Mapping[str, Any]) -> Call:
    if (call.request, call.reading) != (Request(), ReadOptions(keep_constant=call.reading.keep_constant)):
        raise typer.BadParameter(
            "it repeats the settings of the record; give no others.", param_hint="--from"
        )
    request, reading = request_of(earlier)
    assert call.repeat is not None
    image = tuple(earlier["data"]["image_shape"] or ()) or None
    remedy = f"say where they are now: ufselect select DATA --from {call.repeat}"
    data = call.data or data_of(earlier, call.repeat, remedy)
    return replace(call, data=data, request=request, reading=reading, image=image)


def check_same(table: Table, earlier: Mapping[str, Any], new_data: bool) -> None:
    """Refuse other data than those of a record.

    Raises
    ------
    TableError
        If the checksums differ and ``new_data`` is not given.
    """
    if table.sha256 != earlier["data"]["sha256"] and not new_data:
        raise TableError(
            f"{table.source} is not the data that the record was made from, its SHA-256 differs; "
            "give that file, or add --new-data to apply the same settings to this one."
        )


def fit(opened: Opened, request: Request, silent: bool) -> Run:
    """Fit with progress, and say what the fit warned of."""
    table, said = opened.table, []
    with working(f"{table.shape[0]} × {table.shape[1]}:"):
        run = run_selection(table, request, verbose=True, all_rows=opened.all_rows)
        if opened.all_rows is not None and request.method == AUTO:
            run, words = _for_all_rows(run, opened.all_rows)
            said = [words]
    if not silent:
        note([*said, *run.messages])
    return run


def _for_all_rows(sampled: Run, all_rows: AllRows) -> tuple[Run, str]:
    """Let all rows decide on the features by the method that was chosen on a sample, if it can use them."""
    table, winner = sampled.table, sampled.chosen_method
    name, words = type(winner).__name__, f"Chosen on a sample of {len(table.data)} rows: "
    if not isinstance(winner, GramSelector):
        words += f"{name} and its columns, since it needs its rows in memory."
        return replace(sampled, table=table.with_notes(words)), words
    words += f"{name}; its columns are chosen by all rows."
    parameters = {name: value for name, value in winner.get_params().items() if name not in OWN_PARAMETERS}
    count = sampled.selected.size if sampled.request.n_features == "auto" else sampled.request.n_features
    request = replace(sampled.request, method=name, parameters=parameters, n_features=count)
    run = run_selection(table.with_notes(words), request, verbose=True, all_rows=all_rows)
    return replace(run, chooser=sampled.chooser), words


def show(run: Run, found: Mapping[str, Any], outputs: Outputs, most_candidates: int) -> None:
    """Print the chosen features, the verdict and the files that were written."""
    console = errors() if outputs.to_standard_output else output()
    if found.get("tuning"):
        console.print(candidate_table(found["tuning"], found["goal"], most_candidates), highlight=False)
        note([_choice(run)])
    if found.get("count"):
        console.print(count_table(found["count"]), highlight=False)
    console.print(feature_table(run), highlight=False)
    if found.get("clusters"):
        console.print(cluster_table(found["clusters"]), highlight=False)
    shape = run.table.image_shape
    if shape is not None and shape[1] <= WIDEST_PICTURE:
        console.print(pixel_map(run.selector.support_, shape, run.table.image_order))
    for line in found["verdicts"]:
        console.print(marks(plain_text(line)), markup=False, highlight=False, soft_wrap=True)
    if "repeats" in found:
        same = found["repeats"]["same_features"]
        differs = "The features differ from the record's; compare the versions that both records name."
        note(["The same features in the same order as in the record." if same else differs])
    for kind, path in outputs.files().items():
        errors().print(f"Wrote the {kind} to {path}", markup=False, highlight=False, soft_wrap=True)


def _choice(run: Run) -> str:
    winner = run.chosen_method
    default = type(winner)().get_params()
    changed = [
        f"{name}={value}"
        for name, value in winner.get_params().items()
        if name not in OWN_PARAMETERS and repr(value) != repr(default[name])
    ]
    settings = ", ".join(changed) or "default parameters"
    return f"Chosen without labels: {type(winner).__name__}, {settings}."
