"""The exceptions coterie raises on purpose. Each message is one sentence: what, where, what to do.

CoterieError
├── InvalidInput      (ValueError)   data or a parameter that cannot be used
├── Unsupported       (ValueError)   a combination of urn, sampler and backend that does not exist
└── ModelFileError    (OSError)      a model folder or checkpoint that cannot be read or written
"""

from __future__ import annotations


class CoterieError(Exception):
    """Anything coterie raises on purpose."""


class InvalidInput(CoterieError, ValueError):
    """Data or a parameter that cannot be used."""


class Unsupported(CoterieError, ValueError):
    """A combination of urn, sampler and backend that does not exist."""


class ModelFileError(CoterieError, OSError):
    """A model folder or checkpoint that cannot be read or written."""
