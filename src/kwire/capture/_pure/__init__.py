"""The pure twin: the readable contract."""
