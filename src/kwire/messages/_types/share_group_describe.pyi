# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class ShareGroupDescribeRequest(MessageObject):  # request 77, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SHARE_GROUP_DESCRIBE]]
    valid_versions: ClassVar[Versions]
    group_ids: tuple[str, ...] = ()
    include_authorized_operations: bool = False

class ShareGroupDescribeResponse(MessageObject):  # response 77, versions 0-1
    api_key: ClassVar[Literal[ApiKey.SHARE_GROUP_DESCRIBE]]
    valid_versions: ClassVar[Versions]
    class DescribedGroup(MessageObject):
        error_code: int = 0
        error_message: str | None = None
        group_id: str = ""
        group_state: str = ""
        group_epoch: int = 0
        assignment_epoch: int = 0
        assignor_name: str = ""
        members: list[ShareGroupDescribeResponse.Member] = ...
        authorized_operations: int = -2147483648

    class Member(MessageObject):
        member_id: str = ""
        rack_id: str | None = None
        member_epoch: int = 0
        client_id: str = ""
        client_host: str = ""
        subscribed_topic_names: tuple[str, ...] = ()
        assignment: ShareGroupDescribeResponse.Assignment = ...

    class Assignment(MessageObject):
        topic_partitions: list[ShareGroupDescribeResponse.TopicPartitions] = ...

    class TopicPartitions(MessageObject):
        topic_id: Uuid = ...
        topic_name: str = ""
        partitions: tuple[int, ...] = ()

    throttle_time_ms: int = 0
    groups: list[ShareGroupDescribeResponse.DescribedGroup] = ...
