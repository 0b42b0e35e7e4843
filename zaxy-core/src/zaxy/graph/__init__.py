"""The graph: its versions, and how SQLite keeps them."""
