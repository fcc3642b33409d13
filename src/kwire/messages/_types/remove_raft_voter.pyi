# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class RemoveRaftVoterRequest(MessageObject):  # request 81, versions 0
    api_key: ClassVar[Literal[ApiKey.REMOVE_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
    cluster_id: str | None = ""
    voter_id: int = 0
    voter_directory_id: Uuid = ...

class RemoveRaftVoterResponse(MessageObject):  # response 81, versions 0
    api_key: ClassVar[Literal[ApiKey.REMOVE_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
