"""The readable twin of the protocol room."""
