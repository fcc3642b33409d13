# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class UpdateRaftVoterRequest(MessageObject):  # request 82, versions 0
    api_key: ClassVar[Literal[ApiKey.UPDATE_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
    class Listener(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0

    class KRaftVersionFeature(MessageObject):
        min_supported_version: int = 0
        max_supported_version: int = 0

    cluster_id: str | None = ""
    current_leader_epoch: int = 0
    voter_id: int = 0
    voter_directory_id: Uuid = ...
    listeners: list[UpdateRaftVoterRequest.Listener] = ...
    k_raft_version_feature: UpdateRaftVoterRequest.KRaftVersionFeature = ...

class UpdateRaftVoterResponse(MessageObject):  # response 82, versions 0
    api_key: ClassVar[Literal[ApiKey.UPDATE_RAFT_VOTER]]
    valid_versions: ClassVar[Versions]
    class CurrentLeader(MessageObject):
        leader_id: int = -1
        leader_epoch: int = -1
        host: str = ""
        port: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    current_leader: UpdateRaftVoterResponse.CurrentLeader = ...  # tag 0
