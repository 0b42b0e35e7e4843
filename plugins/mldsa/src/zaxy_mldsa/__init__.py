"""ML-DSA signatures for Zaxy's exported bundles. Experimental and unaudited."""

__version__ = "0.1.0"
