"""Pure-Python backend, the readable reference."""
