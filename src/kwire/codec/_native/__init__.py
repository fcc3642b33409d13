"""Compiled backend; its source is in pyx/."""
