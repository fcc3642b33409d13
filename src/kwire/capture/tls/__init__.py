"""TLS between TCP and the protocol: key logs, records, handshakes, and one stream of plaintext per direction of a connection.

    key_lines       lines of NSS key logs
    key_log         such logs, by client random
    session_keys    all that a series has of keys: its logs, Decryption Secrets Blocks, sessions that may be resumed
    cipher_suites   what the numbers of suites stand for
    key_schedule    secrets to traffic keys (RFC 5246, RFC 8446)
    record_ciphers  one record to its plaintext
    records         one direction's bytes to records, across losses
    certificates    subjects, validity, and ssl.principal.mapping.rules
    plaintext       what comes out
    direction       one direction: records in, plaintext out
    handshakes      what the messages of both sides say, and the keys that follow
    connection      both directions

Hellos and other handshake messages are read by `kwire.protocol.tls_handshake`.

Needs `cryptography` where records are deciphered (extra `tls`), and nothing where handshakes are only read.
"""
