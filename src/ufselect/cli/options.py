"""What commands share: options in records, the parsers of their values, the table and the files they name."""

from __future__ import annotations

import ast
import atexit
import inspect
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from tempfile import mkdtemp
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer
from typer import Option

from ufselect.cli.text import say, working

if TYPE_CHECKING:
    from ufselect.io import ReadOptions, Table
    from ufselect.pipeline import Request

FILE_KINDS = {b"PAR1": ".parquet", b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"\x89HDF": ".h5ad"}
WAIT = 3.0  # seconds without data after which it is said what is waited for
DATA_HELP = (
    "A csv, tsv (also compressed), xlsx, parquet, npy, npz, mat or h5ad file, a directory of parquet parts, "
    "a 10x folder, - for standard input, or the name of a data set: digits, wine, breast_cancer "
    "and others of ufselect.datasets."
)


def method_names(incomplete: str) -> list[str]:
    from ufselect._registry import all_selectors

    return [name for name in ("auto", *all_selectors(), "RedundancyFilter") if name.startswith(incomplete)]


def data_names(incomplete: str) -> list[str]:
    from ufselect.datasets.catalogue import names

    path = Path(incomplete)
    folder = path if incomplete.endswith("/") else path.parent
    files = [str(file) for file in folder.glob("*") if str(file).startswith(incomplete)]
    return sorted(files) + [name for name in names() if name.startswith(incomplete)]


def count(text: str) -> int | float | str:
    """Return "50" as a count, "0.1" or "10%" as a share, and "auto" as it is."""
    if text == "auto":
        return text
    try:
        value = int(text) if text.isdecimal() else float(text.rstrip("%")) / (100 if "%" in text else 1)
    except ValueError:
        words = f"{text!r} is neither a count such as 50, nor a share such as 0.1 or 10%, nor auto."
        raise typer.BadParameter(words) from None
    if value <= 0 or (isinstance(value, float) and not value <= 1):
        raise typer.BadParameter(f"{text} must be a count of at least 1 or a share in (0, 1].")
    return value


def clusters(text: str) -> int | str:
    """Return a number of clusters as an integer, or "auto"."""
    if text != "auto" and (not text.isdigit() or int(text) < 2):
        raise typer.BadParameter(f"{text!r} is neither a number of at least 2 nor auto.")
    return text if text == "auto" else int(text)


def image_shape(text: str) -> tuple[int, int]:
    """Return "28x23" as (28, 23)."""
    rows, _, columns = text.lower().replace("×", "x").partition("x")
    if not (rows.isdigit() and columns.isdigit() and int(rows) and int(columns)):
        raise typer.BadParameter(f"{text!r} must be ROWSxCOLUMNS, as in 28x23.")
    return int(rows), int(columns)


def parameter(text: str) -> tuple[str, Any]:
    """Return ``name=value`` as a parameter; a value that is not a Python literal is text."""
    name, mark, value = (part.strip() for part in text.partition("="))
    words = {"true": True, "false": False, "none": None}
    if not mark or not name:
        raise typer.BadParameter(f"{text!r} must be NAME=VALUE, as in mu_row=0.1.")
    try:
        return name, words[value.lower()] if value.lower() in words else ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


Word: TypeAlias = str | None
Words: TypeAlias = list[str] | None
Switch: TypeAlias = bool | None
DATA_ARGUMENT = typer.Argument(help=DATA_HELP, autocompletion=data_names, show_default=False)
Data = Annotated[str, DATA_ARGUMENT]
RUN = "The record of a run, the .json file that select wrote."
Record = Annotated[Path, typer.Argument(help=RUN, show_default=False)]
FOR = (
    "What the columns are for. reconstruct, the default: reconstruct all others. clusters: show the clusters "
    "of rows. redundancy: drop columns that repeat others."
)
SCORED = (
    "What the columns are for. reconstruct, the default: reconstruct all others. clusters: show clusters."
)
CLUSTERS = "How many clusters there are; implies --for clusters."
METHOD = "A selector by name, such as DSCOFS or LaplacianScore."
Method = Annotated[Word, Option("--method", "-m", help=METHOD, autocompletion=method_names)]
METHODS = (
    "Methods to compare, separated by commas; may be repeated. By default all but ConstrainedDSCOFS and TSFS."
)
Methods = Annotated[Words, Option("--method", "-m", help=METHODS, autocompletion=method_names)]
COUNT = (
    "How many columns to select: a number, a share such as 0.1 or 10%, or auto: until a further one adds "
    "little beyond its own variance. By default a tenth, at least 5 and at most 50, or half of a small table."
)
Count = Annotated[Any, Option("-k", "--features", metavar="K", parser=count, help=COUNT)]
PARAMETER = "A parameter of the method; may be repeated."
Parameter = Annotated[
    list[Any] | None, Option("--param", metavar="NAME=VALUE", parser=parameter, help=PARAMETER)
]
KEEP = (
    "Always select these columns: names separated by commas, a pattern such as 'HLA-*', or a file with one "
    "name per line; may be repeated."
)
Keep = Annotated[Words, Option("--keep", metavar="COLUMNS", help=KEEP)]
EXCLUDE = "Leave these columns out; --labels keeps a column in the output."
LIMIT = (
    "Columns correlated above this with a selected one are skipped: 0.95 for --for redundancy, else 0.999; "
    "1 for no limit."
)
MaxCorrelation = Annotated[float | None, Option("--max-correlation", metavar="R", help=LIMIT)]
ONEHOT = (
    "onehot: text columns with few values become columns of zeros and ones, selected together. ordinal: "
    "answers on a scale, such as never to always, become 1, 2, 3."
)
Categorical = Annotated[Literal["onehot", "ordinal"] | None, Option("--categorical", help=ONEHOT)]
ORDER = (
    "For --categorical ordinal: answers from least to most, separated by commas; may be repeated for several "
    "scales. Usual ones, such as disagree to agree, are known."
)
Orders = Annotated[Words, Option("--order", metavar="WORDS", help=ORDER)]
COSTS = "Prices of the columns, for --param budget=B: a file with a column's name and price on each line."
Costs = Annotated[Path | None, Option("--costs", metavar="FILE", help=COSTS)]
REGIONS = "Regions of the columns, for --param quotas=\"{'north': 2}\": a file with name and region."
Regions = Annotated[Path | None, Option("--regions", metavar="FILE", help=REGIONS)]
POSITIONS = "Positions of the columns, for --param min_distance=D: a file with name and coordinates."
Positions = Annotated[Path | None, Option("--positions", metavar="FILE", help=POSITIONS)]
LABELS = (
    "Column of classes, or a covariate: copied to the output, never used for the selection; may be repeated, "
    "the classes first."
)
IMPUTE = (
    "median: fill missing values with the median of their column. drop: leave such columns out. error: stop."
)
Impute = Annotated[Literal["median", "drop", "error"], Option("--impute", help=IMPUTE)]
KEPT = "keep; median for --for clusters, --method, -k auto and --normalize"
KEEPING = f"{IMPUTE} keep: for methods that work around them, such as ReconstructionSelector and DSCOFS."
BATCH = "Column with the batch of each row, such as plate or donor; each batch is centred on its own."
BatchColumn = Annotated[Word, Option("--batch", metavar="COLUMN", help=BATCH)]
WeightColumn = Annotated[Word, Option("--weights", metavar="COLUMN", help="Column of row weights.")]
GUESS = "Recognise id and label columns by names and values."
SEPARATOR = 'Separator of a text file: one character, "tab", or "blanks" for runs of blanks.'
HEADER = "Whether a text file begins with names."
SKIP = "How many lines above the column names to leave out, such as titles."
MISSING = "A further word or number that means missing, such as -999; may be repeated."
PIXELS = "The columns are pixels of images of this size."
ImageShape = Annotated[Any, Option("--image", metavar="ROWSxCOLUMNS", parser=image_shape, help=PIXELS)]
SCALE = "standard: give every column mean 0 and variance 1 first. auto: do so if their units differ."
Scale = Annotated[Literal["auto", "standard", "none"], Option("--scale", help=SCALE)]
NORMALIZE = "log: for raw counts, scale rows to the same total and take logarithms first."
Normalize = Annotated[Literal["none", "log"], Option("--normalize", help=NORMALIZE)]
Seed = Annotated[int, Option("--seed", min=0, help="Random seed.")]
TABLE = "Write the reduced table: .csv, .tsv (also compressed), .parquet, .npz, .h5ad; - for standard output."
RECORD = "Write the record of the run here (.json); by default beside the output."
RANKING = "Write every column with its rank and what represents it: .csv or .tsv."
CLUSTER_FILE = "Write the cluster of each row, for --for clusters: .csv or .tsv."
ADD_CLUSTERS = "Add the cluster of each row to the reduced table, for --for clusters."
NAMES = "Write the names of the selected columns here, one per line."
MAP = "Write, beside the record, the map that ufselect reconstruct needs."
TEXT = "Leave text columns other than ids and labels out of the output."
DropText = Annotated[bool, Option("--drop-text", help=TEXT)]
STREAM = "Read a csv or parquet table in blocks instead of whole."
Stream = Annotated[Switch, Option("--stream/--no-stream", help=STREAM, show_default="if it is large")]
DETAILS = (
    "Also print the method, scores, substitutes, figures on held-out rows, and the number -k auto selects."
)
Details = Annotated[bool, Option("--details", help=DETAILS)]
Force = Annotated[bool, Option("--force", help="Replace output files that exist.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, Option("--json", help="Print the result as JSON, for scripts.")]
Debug = Annotated[bool, Option("--debug", help="Show the traceback of an error.")]


@dataclass(frozen=True)
class Reading:
    """How to read a table: the options of all commands."""

    id_column: Annotated[Word, Option("--id", metavar="COLUMN", help="Column of row ids.")] = None
    label_columns: Annotated[Words, Option("--labels", metavar="COLUMN", help=LABELS)] = None
    separator: Annotated[Word, Option("--separator", help=SEPARATOR)] = None
    decimal: Annotated[Literal[".", ","] | None, Option("--decimal", help="Decimal mark of a text file.")] = (
        None
    )
    header: Annotated[Switch, Option("--header/--no-header", help=HEADER, show_default="detected")] = None
    skip_rows: Annotated[
        int | None, Option("--skip-rows", metavar="N", min=0, help=SKIP, show_default="detected")
    ] = None
    guess: Annotated[bool, Option("--guess/--no-guess", help=GUESS)] = True
    missing: Annotated[Words, Option("--na", metavar="TOKEN", help=MISSING)] = None
    comment: Annotated[
        Word, Option("--comment", metavar="MARK", help="Mark that begins a comment, such as #.")
    ] = None
    transpose: Annotated[
        bool, Option("--transpose", help="The rows of the file are the columns to select from.")
    ] = False
    sheet: Annotated[Word, Option("--sheet", metavar="NAME", help="Sheet of an xlsx file.")] = None
    layer: Annotated[
        Word, Option("--layer", metavar="NAME", help="Layer of an h5ad file, or genome of a 10x h5 file.")
    ] = None

    def options(self, **others: Any) -> ReadOptions:
        """Return these and other options as the reader takes them."""
        from ufselect.io import ReadOptions

        typed = {**vars(self), **others}
        marks = {"tab": "\t", r"\t": "\t", "blank": r"\s+", "blanks": r"\s+", " ": r"\s+"}
        if self.separator is not None:
            typed["separator"] = marks.get(self.separator.lower(), self.separator)
        typed["missing"] = tuple(self.missing or ())
        typed["label_column"], *carried = typed.pop("label_columns") or [None]
        return ReadOptions(**typed, carried_columns=tuple(carried))


@dataclass(frozen=True)
class Purpose:
    """What the columns are for, and on which scale they are compared."""

    goal: Annotated[Literal["redundancy", "reconstruct", "clusters"] | None, Option("--for", help=FOR)] = None
    clusters: Annotated[Any, Option("--clusters", metavar="N|auto", parser=clusters, help=CLUSTERS)] = None
    exclude: Annotated[Words, Option("--exclude", metavar="COLUMNS", help=EXCLUDE)] = None
    scale: Scale = "auto"
    normalize: Normalize = "none"
    impute: Annotated[
        Literal["median", "drop", "keep", "error"] | None, Option("--impute", help=KEEPING, show_default=KEPT)
    ] = None
    seed: Seed = 0

    def imputing(self, is_other: bool = False) -> str:
        """Return what to do with missing values: as typed, else keep them where the selector handles them.

        RedundancyFilter and ReconstructionSelector do, and select better than with medians. ``is_other`` says
        that another selector is named, or -k auto, which holds out rows.
        """
        reconstructs = self.goal != "clusters" and self.clusters is None and not is_other
        keeps = self.goal == "redundancy" or (reconstructs and self.normalize == "none")
        return self.impute or ("keep" if keeps else "median")

    def request(self, **others: Any) -> Request:
        """Return the request of these and other options; refuse those that cannot be combined."""
        from ufselect.io.columns import names_in
        from ufselect.pipeline import Request

        goal = self.goal or ("clusters" if self.clusters is not None else "reconstruct")
        request = Request(
            goal,
            n_clusters="auto" if self.clusters is None else self.clusters,
            seed=self.seed,
            scale=self.scale,
            normalize=self.normalize,
            exclude=names_in(self.exclude, "--exclude"),
            **others,
        )
        limit, method = request.max_correlation, request.method
        if limit is not None and not (0 < limit < 1 or (limit == 1 and goal != "redundancy")):
            most = "at most 1, which is no limit."
            most = "below 1; 0.999 drops only exact repeats." if goal == "redundancy" else most
            raise typer.BadParameter(f"it must be above 0 and {most}", param_hint="--max-correlation")
        has_clusters = self.clusters is not None or (method is None and "n_clusters" in request.parameters)
        if goal != "clusters" and has_clusters:
            words = f"--for {goal} looks for no clusters; use --for clusters."
            raise typer.BadParameter(words, param_hint="--clusters")
        if goal == "redundancy" and (method is not None or request.n_features is not None):
            raise typer.BadParameter(
                "--for redundancy drops columns by --max-correlation and takes no method and no number.",
                param_hint="--method" if method is not None else "-k",
            )
        if goal == "clusters" and method is None and request.n_features == "auto":
            words = "auto works only with --for reconstruct; give a number."
            raise typer.BadParameter(words, param_hint="-k")
        return request


@dataclass(frozen=True)
class ScoredPurpose(Purpose):
    """What given columns are for."""

    goal: Annotated[Literal["reconstruct", "clusters"] | None, Option("--for", help=SCORED)] = None


@dataclass(frozen=True)
class Outputs:
    """The files that ``select`` writes."""

    output_table: Annotated[Path | None, Option("-o", "--output", help=TABLE)] = None
    report: Annotated[
        Path | None, Option("--report", help="Write a page that explains the result (.html).")
    ] = None
    record: Annotated[Path | None, Option("--record", help=RECORD)] = None
    ranking: Annotated[Path | None, Option("--ranking", help=RANKING)] = None
    names: Annotated[Path | None, Option("--names", help=NAMES)] = None
    labels_out: Annotated[Path | None, Option("--labels-out", help=CLUSTER_FILE)] = None
    add_clusters: Annotated[bool, Option("--add-clusters", help=ADD_CLUSTERS)] = False
    save_map: Annotated[bool, Option("--save-map", help=MAP)] = False
    drop_text: DropText = False
    force: Force = False

    def files(self) -> dict[str, Path]:
        """Return the files to write by kind; the record, which names the others, is the last."""
        from ufselect.exceptions import TableError
        from ufselect.io.files import written_as

        table, record, stored = self.output_table, self.record, None
        if record is None and table is not None and str(table) != "-":  # x.json for x.csv, x.csv.gz, x.h5ad
            record = table.with_name(table.name[: -len("".join(written_as(table)))] + ".json")
        if self.save_map:
            if record is None:
                raise TableError("--save-map stores the map beside the record; add -o or --record.")
            stored = record.with_suffix(".map.npz")
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm", ""):
            raise TableError(f"The report is an HTML page, so {self.report} must end in .html.")
        for flag, path in (("--ranking", self.ranking), ("--labels-out", self.labels_out)):
            if str(path or "-") != "-" and written_as(path)[0] not in (".csv", ".tsv"):  # type: ignore[arg-type]
                raise TableError(f"{path} must end in .csv or .tsv for {flag}; both can be compressed.")
        files = {
            "table": table, "report": self.report, "ranking": self.ranking, "names": self.names,
            "clusters": self.labels_out, "map": stored, "record": record,
        }  # fmt: skip
        return {kind: path for kind, path in files.items() if path}


def with_records(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take each field of its parameters that are records as an option."""
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    options = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in records:
            options.append(parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY))
            continue
        types = get_type_hints(records[name], include_extras=True)
        options += [
            parameter.replace(
                name=each.name, annotation=types[each.name], default=each.default, kind=parameter.KEYWORD_ONLY
            )
            for each in fields(records[name])
        ]
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)

    @wraps(command)
    def with_options(debug: bool = False, **typed: Any) -> None:
        for name, record in records.items():
            typed[name] = record(**{each.name: typed.pop(each.name) for each in fields(record)})
        command(**typed)

    with_options.__signature__ = inspect.Signature([*options, debug])  # type: ignore[attr-defined]
    return with_options


def check_data(name: str) -> None:
    """Refuse a table that is neither a file nor a data set, before anything heavy is imported."""
    from ufselect.datasets.catalogue import names
    from ufselect.exceptions import TableError

    if name == "-" or Path(name).exists() or name in names():
        return
    close = get_close_matches(name.lower(), names(), n=1)
    advice = f"did you mean the data set {close[0]}?" if close else "check the name and the folder."
    raise TableError(f"There is no file {name}; {advice}")


def check_files(
    files: Mapping[str, Path | None], force: bool, data: str | None, as_json: bool = False
) -> None:
    """Refuse outputs, given by their options, that cannot be written or would mix on standard output."""
    from ufselect.io.files import check_outputs

    for option, path in files.items():
        if str(path) == "-" and option != "-o":
            words = "it needs the name of a file; only the table goes to standard output (-o -)."
            raise typer.BadParameter(words, param_hint=option)
    if as_json and str(files.get("-o")) == "-":
        words = "-o - writes the table to standard output too; give -o a file, or --record one for the JSON."
        raise typer.BadParameter(words, param_hint="--json")
    named = [path for path in files.values() if path is not None and str(path) != "-"]
    check_outputs(named, force, None if data is None else Path(data))


def open_data(name: str, *arguments: Any, **options: Any) -> Table:
    """Read a file, standard input or a data set by name, as :func:`~ufselect.pipeline.read_data` does."""
    from ufselect.pipeline import read_data

    path = local_file(name)
    with working(f"Reading {path.name} …" if path.exists() else f"Loading {name} …"):
        return read_data(path, *arguments, **options)


def local_file(name: str) -> Path:
    """Return the path of a file; store standard input or a named pipe in a temporary one."""
    from ufselect.io.files import MAGIC

    if name != "-" and not Path(name).is_fifo():
        return Path(name)
    waiting = Timer(WAIT, say, [f"Waiting for data from {'standard input' if name == '-' else name} …"])
    waiting.daemon = True
    with working("Reading …"):
        folder = mkdtemp(prefix="ufselect-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder) / ("standard-input" if name == "-" else "pipe")
        waiting.start()
        with sys.stdin.buffer if name == "-" else open(name, "rb") as stream, path.open("wb") as file:
            file.write(stream.read(1))
            waiting.cancel()
            shutil.copyfileobj(stream, file)
    with path.open("rb") as file:
        start = file.read(8)
    packing = next((ending for magic, ending in MAGIC.items() if start.startswith(magic)), "")
    kind = next((ending for magic, ending in FILE_KINDS.items() if start.startswith(magic)), ".csv")
    if kind == ".npz":
        with zipfile.ZipFile(path) as archive:
            kind = ".xlsx" if "[Content_Types].xml" in archive.namelist() else kind
    return path.rename(path.with_name(f"{path.name}{kind}{packing}"))
