"""Real servers for tests: got once per machine, started on free ports of the loopback address."""
