"""A file of predictions and what mistakes cost: counted once, and asked everything."""

from stakes.study.study import Study

__all__ = ["Study"]
