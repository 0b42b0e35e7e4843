"""How often a record is found that shares no content word with the question: by words, and by lanes of meaning."""
