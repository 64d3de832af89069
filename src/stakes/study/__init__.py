"""A file of predictions and what mistakes cost: counted once, and asked everything."""

from stakes.study.arrays import study_of
from stakes.study.study import Study

__all__ = ["Study", "study_of"]
