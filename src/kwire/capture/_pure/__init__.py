"""Python backend of the capture package."""
