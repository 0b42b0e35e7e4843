"""Removes secrets from payloads, and checks names and paths before they are used."""
