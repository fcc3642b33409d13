"""Request logs of Kafka brokers: reading of lines into entries with their bodies.

`typed_lines` reads JSON lines as brokers write them, with msgspec. `lines` is the reference and the fallback: it reads every form, valid or
not, and `bodies` converts bodies to messages.
"""
