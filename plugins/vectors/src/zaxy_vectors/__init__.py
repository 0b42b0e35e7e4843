"""Static word vectors: a lane that finds what means the same in other words."""

__version__ = "0.1.0"
