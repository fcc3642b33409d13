"""The Python twin of the capture room."""
