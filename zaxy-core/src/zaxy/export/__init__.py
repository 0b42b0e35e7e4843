"""Memory that leaves with proof: delivery of bundles and the algorithms that sign them."""
