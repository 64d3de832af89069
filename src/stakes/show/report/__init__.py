"""The report: one page that opens from disk and asks nothing of the network."""

from stakes.show.report._page import report_html, write_report

__all__ = ["report_html", "write_report"]
