"""Removal of secrets from frames: record contents, passwords, tokens, configuration values."""
