"""Rows of request logs in the tables of captures."""
