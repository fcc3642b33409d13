"""Request logs of Kafka brokers: lines in, entries with their bodies out.

A line takes one of two paths. The fast path (`pyx/capture/log_lines.pyx`, with msgspec) reads JSON lines and bodies of the types that
brokers write, in one pass. `lines` is the contract and the fallback: it reads every form, good or bad, and `bodies` makes messages of it.
"""
