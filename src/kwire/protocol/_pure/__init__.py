"""Pure backend of the protocol package."""
