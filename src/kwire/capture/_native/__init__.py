"""Native backend of the capture package, built from pyx/capture."""
