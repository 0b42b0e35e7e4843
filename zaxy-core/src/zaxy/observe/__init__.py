"""Watching agents at work without standing in their way: what their clients' hooks and session files tell."""
