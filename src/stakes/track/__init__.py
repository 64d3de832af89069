"""What models cost, kept where experiments are tracked."""

from stakes._core.values import name_arguments
from stakes.track.mlflow_run import log_to_mlflow, mlflow_cost_metric

__all__ = ["log_to_mlflow", "mlflow_cost_metric"]

name_arguments(__name__)
