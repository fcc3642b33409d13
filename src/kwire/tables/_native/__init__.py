"""The compiled twin of the tables room: built from pyx/tables."""
