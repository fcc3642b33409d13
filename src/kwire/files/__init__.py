"""Files that kwire reads and writes: stores, private files, scratch space on disk."""
