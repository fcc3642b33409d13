"""Smaller or pseudonymous copies of captures."""
