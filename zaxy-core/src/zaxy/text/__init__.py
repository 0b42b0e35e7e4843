"""Words: passages, tokens, the text index and its ranking."""
