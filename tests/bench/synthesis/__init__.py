"""Composed questions over generated histories whose answers are known."""
