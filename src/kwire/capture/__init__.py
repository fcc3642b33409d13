"""Captures: reading of packets from files, TCP streams from packets, and grouping of files into series."""
