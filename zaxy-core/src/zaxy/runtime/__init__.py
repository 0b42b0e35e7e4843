"""What runs around memory: pages for people, and the demonstration."""
