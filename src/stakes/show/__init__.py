"""Results become text, figures and reports; nothing here computes a statistic."""

from stakes.show.text import cost_table

__all__ = ["cost_table"]
