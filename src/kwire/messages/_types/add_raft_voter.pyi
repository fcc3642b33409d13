# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class AddRaftVoterRequest(MessageObject):  # request 80, versions 0-1
    api_key: ClassVar[Literal[ApiKey.ADD_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
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
    api_key: ClassVar[Literal[ApiKey.ADD_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
