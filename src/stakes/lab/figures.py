"""The figures of an experiment as pictures."""

from __future__ import annotations

import io

from stakes.lab.experiment import Experiment, Results
from stakes.show._matplotlib import pyplot

KINDS = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What to leave out of each kind of picture, so that the same figure is the same bytes."""


def figures(experiment: Experiment, results: Results, kind: str = "png") -> dict[str, bytes]:
    """Draw the figures in the papers' layout: pictures, by the names of the figures."""
    if experiment.draw is None:
        return {}
    plt = pyplot()  # says how to get matplotlib, where it is missing
    pictures = {}
    with plt.rc_context({"svg.hashsalt": "stakes", "font.family": "DejaVu Sans"}):
        for name, figure in experiment.draw(results).items():
            picture = io.BytesIO()
            figure.savefig(picture, format=kind, dpi=150, metadata=KINDS[kind])
            pictures[name] = picture.getvalue()
            plt.close(figure)
    return pictures
