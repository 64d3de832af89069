"""The report: one HTML page from data, which opens from disk and needs no network."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import Any

from stakes.errors import InputTypeError
from stakes.findings.data import Settings
from stakes.findings.report import findings
from stakes.show.report._page import audit_html, report_html, write_report
from stakes.study import Study, refuse_path, study_of

__all__ = ["audit_html", "page_of", "report", "report_html", "write_report", "write_study"]

SETTINGS = ("unit", "volume", "per", "factor", "target", "title", "noun")


def report(
    data: Any,
    costs: Any = None,
    *,
    out: str | os.PathLike[str] = "report.html",
    **options: Any,
) -> Study:
    """Write a report on the predictions in a data frame.

    Parameters
    ----------
    data : data frame, mapping of columns, or Study
        A row for each example: the actual classes, and the decisions or scores of models. Data
        frames can be of any library that narwhals supports.
    costs : CostMatrix, ExampleCosts or mapping
        The costs of decisions, or ``{"false_positive": 10, "false_negative": 100}``.
    out : str or path, default "report.html"
        The file to write.
    **options
        ``actual``, ``models``, ``scores``, ``groups``, ``class_priors`` and other options of
        `stakes.study_of`; ``unit``, ``volume``, ``per``, ``title``, ``noun`` and other options of
        `stakes.findings.Settings`.

    Returns
    -------
    Study
        The study of the report; ``study.notes`` states how each column was interpreted.

    Examples
    --------
    >>> import os, tempfile
    >>> import stakes
    >>> tumours = stakes.datasets.load_breast_cancer_predictions()
    >>> costs = stakes.datasets.load_breast_cancer_costs()
    >>> page = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> stakes.report(tumours, costs, out=page, unit="USD").verdict().use
    'discriminant@0.002999'
    """
    settings = {name: options.pop(name) for name in SETTINGS if name in options}
    if isinstance(data, Study):
        if costs is not None or options:
            raise InputTypeError("data", "a study has its costs and options; got others.")
        study = data
    else:
        refuse_path(data, "data")
        study = study_of(data, costs, **options)
    write_study(study, out, **settings)
    return study


def write_study(study: Study, path: str | os.PathLike[str], **settings: Any) -> None:
    """Write the report on a study; the settings are those of `stakes.findings.Settings`."""
    write_report(findings(study, Settings(**settings)), path)


@dataclass(frozen=True)
class ShownPage:
    """A page that notebooks show in its own frame.

    Attributes
    ----------
    html : str
        The page.
    height : int
        The height of the frame in pixels.
    """

    html: str
    height: int

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" width="100%" height="{self.height}" '
            'style="border: 0" sandbox="allow-scripts allow-downloads"></iframe>'
        )


def page_of(study: Study, *, height: int, **settings: Any) -> ShownPage:
    """Return the report on a study, for a notebook."""
    return ShownPage(report_html(findings(study, Settings(**settings))), height)
