"""Replies to a model: bounded, cited, and honest about whether they are enough to answer."""
