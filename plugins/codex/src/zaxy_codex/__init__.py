"""Reads the session files that Codex keeps, and turns them into observations."""
