"""A right provider and its wrong siblings, per extension point.

The right one is what `zaxy plugins new` writes. Each wrong one breaks a single promise, and is filed under the check
that must notice. `case(make, scratch)` gives the case with which either is tried; `scratch` is the workbench's folder,
in which a provider's state folder is named `state`.
"""
