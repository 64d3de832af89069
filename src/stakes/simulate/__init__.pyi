from ._coverage import Coverage, coverage
from ._measurements import Measurements
from ._rejections import PowerCurve, TypeOneError, power_curve, type_one_error

__all__ = [
    "Coverage",
    "Measurements",
    "PowerCurve",
    "TypeOneError",
    "coverage",
    "power_curve",
    "type_one_error",
]
