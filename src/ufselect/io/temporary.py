"""Files that live as long as an object that reads from them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path


class TemporaryFolder:
    """A folder that is removed with this object, or when the program ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="ufselect-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
