"""The paper's experiments: its study, tables, figures, ablation, synthetic sets and printed figures."""

from ufselect.reproduction.findings import Study
from ufselect.reproduction.study import reproduce

__all__ = ["Study", "reproduce"]
