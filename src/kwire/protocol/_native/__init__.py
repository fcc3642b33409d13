"""The compiled twin of the protocol room: built from pyx/protocol."""
