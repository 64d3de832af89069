"""Count rows into small tables, from which all later steps compute without the rows."""

from stakes._core.values import name_arguments
from stakes.counts.binned import BinnedScoreCounts
from stakes.counts.confusion import Confusion, PairedConfusion
from stakes.counts.grouped import GroupedConfusion
from stakes.counts.joint import JointConfusion
from stakes.counts.paired_scores import PairedScoreCounts
from stakes.counts.sample import CostSample
from stakes.counts.scores import ScoreCounts

__all__ = [
    "BinnedScoreCounts",
    "Confusion",
    "CostSample",
    "GroupedConfusion",
    "JointConfusion",
    "PairedConfusion",
    "PairedScoreCounts",
    "ScoreCounts",
]

name_arguments(__name__)
