"""Compiled backend of the protocol package, built from pyx/protocol."""
