"""What models cost, kept where experiments are tracked."""

from stakes.track.mlflow_run import log_to_mlflow, mlflow_cost_metric

__all__ = ["log_to_mlflow", "mlflow_cost_metric"]
