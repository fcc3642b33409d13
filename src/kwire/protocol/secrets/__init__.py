"""Takes out of frames what must not be passed on: record contents, passwords, tokens, configuration values."""
