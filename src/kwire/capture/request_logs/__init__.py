"""Request logs of Kafka brokers: lines in, entries with their bodies out.

`typed_lines` reads JSON lines as brokers write them, with msgspec. `lines` is the contract and the fallback: it reads every form, good or
bad, and `bodies` makes messages of it.
"""
