"""Composed questions: all rows that bear on one, what counted and why, and the answers that follow from them."""
