"""Eventloom: the hash-chained log in which everything that memory says has its origin."""
