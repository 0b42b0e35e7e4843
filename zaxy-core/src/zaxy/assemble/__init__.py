"""From what was found to what a model is told: bounded, cited, and honest about whether it is enough."""
