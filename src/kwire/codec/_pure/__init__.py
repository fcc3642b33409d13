"""Pure-Python backend: the readable contract."""
