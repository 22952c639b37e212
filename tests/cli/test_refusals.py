"""What cannot be done, or would have no effect, ends in one sentence with the remedy; nothing is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.commands import call, call_and_read
from tests.cli.hard_tables import tables


@pytest.fixture
def folder(folder):
    for name, content in tables().items():
        Path(name).write_bytes(content)
    rng = np.random.default_rng(0)
    lines = ["sample,MT-1,MT-2," + ",".join(f"g{j}" for j in range(2, 15)) + ",class,note,constant"]
    for i, row in enumerate(rng.standard_normal((40, 15)).round(4)):
        lines.append(f"s{i},{','.join(map(str, row))},{'uv'[i % 2]},text {i},1")
    Path("cells.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("few.csv").write_text("\n".join(lines[:9]) + "\n", encoding="utf-8")
    Path("words.csv").write_text("a,b\n" + "foo,bar\n" * 9, encoding="utf-8")
    Path("two.csv").write_text("a,b\n1,1\n2,1\n4,1\n", encoding="utf-8")
    Path("holes.csv").write_text("a,b,c\n,1,2\n1,,3\n2,3,\n4,5,5\n", encoding="utf-8")
    return folder


ONLY_TABLE = "it needs the name of a file; only the table goes to standard output"
USED = [
    ("select", "name a table, as in"),
    ("select cells.csv -k many", "neither a count"),
    ("select cells.csv -k 0", "at least 1"),
    ("select cells.csv -k 1.5", "share in"),
    ("select cells.csv --impute mean", "not one of 'median', 'drop'"),
    ("select cells.csv --scale big", "not one of 'auto', 'standard', 'none'"),
    ("select cells.csv --param mu", "NAME=VALUE"),
    ("select cells.csv --image 3", "ROWSxCOLUMNS"),
    ("select cells.csv --nonsense", "No such option"),
    ("select cells.csv --max-correlation 0", "above 0 and at most 1"),
    ("select cells.csv --for redundancy --max-correlation 1", "below 1; 0.999 drops only exact repeats."),
    ("select cells.csv --categorical dummies", "not one of 'onehot'"),
    ("select cells.csv -k auto --for clusters", "auto works only with --for reconstruct"),
    ("select cells.csv -k 2 --for reconstruct --clusters 3", "--for reconstruct looks for no clusters"),
    ("select cells.csv --for redundancy --clusters 3", "--for redundancy looks for no clusters"),
    ("select cells.csv --for redundancy -k 3", "takes no method and no number"),
    ("select cells.csv --for redundancy -m DSCOFS", "takes no method and no number"),
    ("select cells.csv --clusters 1", "neither a number of at least 2"),
    ("select cells.csv --names -", f"--names: {ONLY_TABLE}"),
    ("select cells.csv --record -", f"--record: {ONLY_TABLE}"),
    ("select cells.csv --report -", f"--report: {ONLY_TABLE}"),
    ("select cells.csv --ranking -", f"--ranking: {ONLY_TABLE}"),
    ("select cells.csv --json -o -", "--json: -o - writes the table to standard output too; give -o a file"),
    ("score cells.csv --columns g2 --for redundancy", "not one of 'reconstruct', 'clusters'"),
    ("compare wine --impute keep", "not one of 'median', 'drop', 'error'"),
    (
        "select cells.csv -k 3 --labels-out c.csv",
        "--labels-out: rows have a cluster only with",
    ),
    ("select cells.csv -k 3 --add-clusters", "--add-clusters: rows have a cluster only with"),
    ("select cells.csv --costs cells.csv", "--costs: it needs a rule; add --param budget=B."),
    ("select cells.csv --regions cells.csv", "--regions: it needs a rule; add --param quotas="),
    ("select cells.csv --positions cells.csv", "--positions: it needs a rule; add --param min_distance=D."),
    ("nonsense", "No such command"),
]
FAILED = [
    ("select absent.csv", "There is no file absent.csv"),
    ("select Digits", "did you mean the data set digits?"),
    ("select cells.csv -k 99", "use -k 15 or less."),
    ("select two.csv -k 4", "use -k 1."),
    ("select cells.csv -m dscoffs", "did you mean DSCOFS?"),
    ("select cells.csv -m DSCOFS --param nu=1", "DSCOFS has no parameter 'nu' to set; it has"),
    ("select cells.csv -m MaxVariance --param nu=1", "has no parameter 'nu' to set; it has none."),
    ("select cells.csv --param keep=3", "has no parameter 'keep' to set"),
    ("select cells.csv -m DSCOFS --param mu_row=-1 -k 3", "'mu_row' parameter"),
    (
        "select cells.csv -k 3 -m RedundancyFilter",
        "RedundancyFilter takes no number of columns",
    ),
    (
        "select cells.csv -k 3 -m MaxVariance --for clusters --labels-out c.csv",
        "rows have no cluster to write; use --for clusters without --method",
    ),
    ("select cells.csv -k auto -m DSCOFS", "DSCOFS does not choose the number of columns"),
    ("select few.csv -k auto", "-k auto holds out rows and needs at least 10 of them, not 8; give -k a"),
    ("select cells.csv -o out.xlsx", "must end in .csv"),
    ("select cells.csv -o cells.csv --force", "is the input"),
    ("select cells.csv -o words.csv", "words.csv exists already; choose another name or add --force"),
    ("select cells.csv -o no/where.csv", "does not exist; create it first"),
    ("select cells.csv --report page.pdf", "page.pdf must end in .html"),
    ("select cells.csv --ranking r.txt", "r.txt must end in .csv or .tsv"),
    ("select cells.csv --labels clas", "did you mean class?"),
    ("select cells.csv --image 3x4", "12 pixels"),
    ("select cells.csv --keep g33", "--keep g33 matches no column of the table; did you mean g3?"),
    ("select cells.csv --keep G1,foo", "--keep G1, foo match no column of the table; "),
    ("select cells.csv --keep ,", "--keep ',' matches no column of the table; "),
    ("select cells.csv --exclude X-*", "--exclude X-* matches no column"),
    ("select cells.csv --keep constant", "that column was left out (constant)"),
    ("select cells.csv --keep g2 --exclude g*", "--keep g2 is not possible: that column was left out"),
    ("select cells.csv --keep @nowhere.txt", "There is no file nowhere.txt for --keep"),
    ("select cells.csv --exclude g* -k 3", "use -k 2 or less"),
    ("select cells.csv --keep g* -k 3", "ask for at least"),
    ("select cells.csv --categorical onehot --stream", "drop --stream"),
    (
        "select miss_nd.csv --impute error",
        "a (2); add --impute median to fill them, --impute drop to leave that",
    ),
    ("select miss_nd.csv --impute error", "Read as missing values: ND (2)"),
    ("select miss_dash.csv --impute error", "Values are missing in 1 of 5"),
    ("select miss_own.csv --na nix --impute error", "Values are missing in 1 of 5"),
    ("select holes.csv --impute drop", "Use --impute median or --impute keep"),
    ("select huge.csv --scale standard", "Values of a are too large to be squared"),
    ("select empty.csv", "holds no data"),
    ("select header_only.csv", "no rows of data"),
    ("select onerow.csv", "a single row"),
    ("select words.csv", "Check the separator and the decimal mark (--separator, --decimal)"),
    ("select binary.csv", "binary.csv is not a text file"),
    ("select cut.csv.gz", "cut.csv.gz is not a readable csv file"),
    ("select --from cells.csv", "is not JSON"),
    ("select --from .", "There is no record ."),
    ("apply plain.csv plain.csv -o x.csv", "is not JSON"),
    ("compare lab0.csv -k 300 --labels class", "-k 300 is more than the 5 columns"),
    ("compare plain.csv --labels a", "ids or measurements, not classes"),
    ("compare dup_id.csv --labels id", "only one class"),
]


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [(line, 2, said) for line, said in USED] + [(line, 1, said) for line, said in FAILED],
)
def test_one_sentence_with_the_remedy(folder, capsys, line, code, sentence):
    before = sorted(path.name for path in folder.iterdir())
    ended, out, err = call_and_read(line, capsys)
    assert (ended, out) == (code, "")
    assert sentence in err
    assert "Traceback" not in err
    assert "Warning" not in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"a": 1}',
        '{"ufselect_record": 99}',
        "[" * 100_000 + "]" * 100_000,
        '{"a": 1' + "0" * 5000 + "}",
        '{"ufselect_record": 1' + "0" * 400 + "}",
    ],
)
def test_other_files_are_no_records(text, folder, capsys):
    Path("record.json").write_text(text, encoding="utf-8")
    code, _, err = call_and_read("apply record.json cells.csv -o picked.csv", capsys)
    assert (code, "the .json file that ufselect select wrote" in err, "report it" in err) == (1, True, False)


def test_debug_shows_the_traceback(capsys):
    assert call("select absent.csv --debug") == 1
    assert "Traceback" in capsys.readouterr().err
