"""How often the events that answer a question are found: ours against plain BM25, on generated histories."""
