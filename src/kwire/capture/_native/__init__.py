"""The compiled twin of the capture room: built from pyx/capture."""
