"""Capture files: inputs, formats, series and their packets."""
