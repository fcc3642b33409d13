"""Input and output files: object stores, private files, scratch space on disk."""
