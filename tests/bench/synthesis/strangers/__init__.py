"""Small histories in the words of strangers, with questions whose answers were worked out by hand."""
