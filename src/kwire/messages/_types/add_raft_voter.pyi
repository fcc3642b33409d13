# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class AddRaftVoterRequest(MessageObject):  # request 80, versions 0-1
    class Listener(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0

    cluster_id: str | None = ""
    timeout_ms: int = 0
    voter_id: int = 0
    voter_directory_id: Uuid = ...
    listeners: list[AddRaftVoterRequest.Listener] = ...
    ack_when_committed: bool = True  # 1+

class AddRaftVoterResponse(MessageObject):  # response 80, versions 0-1
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
