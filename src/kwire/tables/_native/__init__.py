"""Native backend of the tables package, built from pyx/tables."""
