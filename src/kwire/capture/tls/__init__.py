"""TLS between TCP and the protocol: key logs, records, handshakes, and one stream of plaintext per direction of a connection.

`kwire.protocol.tls_handshake` reads handshake messages. Deciphering needs `cryptography` (extra `tls`).
"""
