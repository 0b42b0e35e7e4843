"""The tools that the core serves, one module per subject; each has its `TOOLS`."""
