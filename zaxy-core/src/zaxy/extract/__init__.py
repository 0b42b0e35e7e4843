"""What an event is about: the built-in rules that turn one event into entities, edges and closings."""
