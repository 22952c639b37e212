"""The action of S = AᵀA for the centred data A, never formed unless forming it is cheaper."""

from ufselect.gram.base import GramOperator
from ufselect.gram.correlation import absolute_correlations
from ufselect.gram.dense import FormedGram, dense_gram
from ufselect.gram.factory import gram_operator
from ufselect.gram.lowrank import FactoredGram
from ufselect.gram.missing import MissingSummary
from ufselect.gram.restricted import RestrictedGram
from ufselect.gram.row_details import RowDetails, row_details
from ufselect.gram.rows import RowLayout
from ufselect.gram.sparse import SparseGram
from ufselect.gram.spectrum import Spectrum, suggest_n_components
from ufselect.gram.wide import ImplicitGram

__all__ = [
    "FactoredGram",
    "FormedGram",
    "GramOperator",
    "ImplicitGram",
    "MissingSummary",
    "RestrictedGram",
    "RowDetails",
    "RowLayout",
    "SparseGram",
    "Spectrum",
    "absolute_correlations",
    "dense_gram",
    "gram_operator",
    "row_details",
    "suggest_n_components",
]
