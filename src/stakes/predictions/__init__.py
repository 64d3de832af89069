"""Tables of predictions: the role of each column, and counting their rows."""

from stakes.predictions.arrays import ArrayTable
from stakes.predictions.arrow import ArrowTable
from stakes.predictions.examples import JointExamples
from stakes.predictions.files import ShardedTable
from stakes.predictions.roles import Model, Roles, find_roles
from stakes.predictions.scores import JointScores
from stakes.predictions.table import Batch, Columns, DesignColumns, Reading, Table
from stakes.predictions.tally import Tally, count_rows, merged

__all__ = [
    "ArrayTable",
    "ArrowTable",
    "Batch",
    "Columns",
    "DesignColumns",
    "JointExamples",
    "JointScores",
    "Model",
    "Reading",
    "Roles",
    "ShardedTable",
    "Table",
    "Tally",
    "count_rows",
    "find_roles",
    "merged",
]
