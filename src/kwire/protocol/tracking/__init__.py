"""Machine that follows a connection: bytes of both directions and their times in, requests with their responses out.

`connection` is one tracked connection and the contract of the native backend; `direction_detection` first finds the server's side.
"""
