"""The plugin host: who is installed, what they provide, and calls into them that cannot do harm."""
