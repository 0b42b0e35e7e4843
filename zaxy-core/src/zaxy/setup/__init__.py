"""Setting up a project, and finding out what is wrong with it."""
