"""What is derived from the log and may be deleted and built again."""
