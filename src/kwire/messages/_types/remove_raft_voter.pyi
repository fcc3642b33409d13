# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class RemoveRaftVoterRequest(MessageObject):  # request 81, versions 0
    cluster_id: str | None = ""
    voter_id: int = 0
    voter_directory_id: Uuid = ...

class RemoveRaftVoterResponse(MessageObject):  # response 81, versions 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
