"""A page that explains a selection: one HTML file that needs no network."""

from ufselect.report.explanation import Explanation, explain
from ufselect.report.page import report_html

__all__ = ["Explanation", "explain", "report_html"]
