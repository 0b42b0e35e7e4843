"""Other programs' configuration: what is written into it, and how it is taken out again."""
