"""A retrieval lane for Zaxy that finds what means the same, with a sentence model that runs on this machine."""
