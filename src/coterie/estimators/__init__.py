"""scikit-learn estimators: each says which urn it is."""

from coterie.estimators.gsdmm import GSDMM
from coterie.estimators.gsdpmm import GSDPMM

__all__ = ["GSDMM", "GSDPMM"]
