"""Draw the pictures of the pages: ``python docs/draw.py [NAME …]``.

Each script of ``pictures/`` that is not of a display leaves a figure. It is stored in ``_static/pictures``,
so that pages read as well in the repository, with a digest of what it was drawn from, by which
``docs/tests`` finds the pictures to draw anew.
"""

from __future__ import annotations

import hashlib
import re
import runpy
import sys

from figures import HERE, RESULTS

STORED = HERE / "_static" / "pictures"
SCRIPTS = {
    path.stem: path for path in sorted((HERE / "pictures").glob("*.py")) if not path.stem.endswith("Display")
}


def digest(name: str) -> str:
    """Return the digest of a script and of the result files that it reads."""
    script = SCRIPTS[name].read_bytes()
    files = sorted({*re.findall(rb'look_up\("(\w+)/', script)})
    contents = [script, *((RESULTS / f"{file.decode()}.json").read_bytes() for file in files)]
    return hashlib.sha256(b"".join(contents)).hexdigest()


def main() -> None:
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    STORED.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SCRIPTS:
        runpy.run_path(str(SCRIPTS[name]))
        plt.gcf().savefig(STORED / f"{name}.png", dpi=120, metadata={"Source": digest(name)})
        plt.close("all")


if __name__ == "__main__":
    main()
