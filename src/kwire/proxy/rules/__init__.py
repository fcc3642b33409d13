"""Rules of a proxy, one file each."""
