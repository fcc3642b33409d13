"""Tracker of a connection: it takes the bytes of both directions with their times, and returns requests with their responses.

`connection` tracks one connection and defines the native backend's behavior; `direction_detection` finds the server's side first.
"""
