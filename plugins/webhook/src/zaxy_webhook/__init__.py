"""Delivers Zaxy's exported bundles over HTTP and HTTPS, with nothing but the standard library."""

__version__ = "0.1.0"
