"""scikit-learn estimators, thin: each says which urn it is."""

from coterie.estimators.gpudmm import GPUDMM
from coterie.estimators.gsdmm import GSDMM
from coterie.estimators.gsdpmm import GSDPMM
from coterie.estimators.tsdpmm import TSDPMM
from coterie.estimators.xdmm import XDMM

__all__ = ["GPUDMM", "GSDMM", "GSDPMM", "TSDPMM", "XDMM"]
