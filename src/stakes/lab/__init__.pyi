from .catalogue import experiments
from .cost_models import draw_costs
from .domains.binormal import Binormal, BinormalPair, binormal
from .domains.expf5 import expf5, expf5_classes
from .domains.fraud import Payments, fraud
from .domains.gaussians import Gaussians
from .domains.uci import DataSet, fetch_uci, read_uci
from .domains.waveform import waveform, waveform_probabilities
from .engine import run
from .experiment import Experiment, Printed, Results, Trial
from .interval_coverage import Coverage, coverage
from .measurements import Measurements
from .power_of_tests import PowerCurve, power_curve
from .size_of_tests import TypeOneError, type_one_error

__all__ = [
    "Binormal",
    "BinormalPair",
    "Coverage",
    "DataSet",
    "Experiment",
    "Gaussians",
    "Measurements",
    "Payments",
    "PowerCurve",
    "Printed",
    "Results",
    "Trial",
    "TypeOneError",
    "binormal",
    "coverage",
    "draw_costs",
    "experiments",
    "expf5",
    "expf5_classes",
    "fetch_uci",
    "fraud",
    "power_curve",
    "read_uci",
    "run",
    "type_one_error",
    "waveform",
    "waveform_probabilities",
]
