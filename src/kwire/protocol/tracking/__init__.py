"""Machine that follows a connection: bytes of both directions and their times in, requests with their responses out.

`connection` is one tracked connection and the contract of the native backend; `direction_detection` first finds the server's side. `frames`
and `resync` find the frames, `reading` and `first_fields` read them, `pairing` finds the request of a response, `identity` keeps who the
client is, `exchange` makes rows and events of all of it.
"""
