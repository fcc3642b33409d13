"""Rows of request logs: the tables that captures give, as far as a log has it. Requests and responses are paired in the log already.

`rows` takes entries of `kwire.capture.request_logs`, `connection` knows what they say of one connection, and `exchange_kinds` what all
entries of an api version have in common.
"""
