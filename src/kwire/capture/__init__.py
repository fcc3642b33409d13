"""Captures: packets out of files, TCP streams out of packets, files into series."""
