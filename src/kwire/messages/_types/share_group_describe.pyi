# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject

class ShareGroupDescribeRequest(MessageObject):  # request 77, versions 0-1
    group_ids: tuple[str, ...]
    include_authorized_operations: bool

    def __init__(
        self,
        *,
        group_ids: list[str] | tuple[str, ...] = (),
        include_authorized_operations: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class ShareGroupDescribeResponse(MessageObject):  # response 77, versions 0-1
    class DescribedGroup(MessageObject):
        error_code: int
        error_message: str | None
        group_id: str
        group_state: str
        group_epoch: int
        assignment_epoch: int
        assignor_name: str
        members: list[ShareGroupDescribeResponse.Member]
        authorized_operations: int

        def __init__(
            self,
            *,
            error_code: int = 0,
            error_message: str | None = None,
            group_id: str = "",
            group_state: str = "",
            group_epoch: int = 0,
            assignment_epoch: int = 0,
            assignor_name: str = "",
            members: list[ShareGroupDescribeResponse.Member] = ...,
            authorized_operations: int = -2147483648,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Member(MessageObject):
        member_id: str
        rack_id: str | None
        member_epoch: int
        client_id: str
        client_host: str
        subscribed_topic_names: tuple[str, ...]
        assignment: ShareGroupDescribeResponse.Assignment

        def __init__(
            self,
            *,
            member_id: str = "",
            rack_id: str | None = None,
            member_epoch: int = 0,
            client_id: str = "",
            client_host: str = "",
            subscribed_topic_names: list[str] | tuple[str, ...] = (),
            assignment: ShareGroupDescribeResponse.Assignment = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class Assignment(MessageObject):
        topic_partitions: list[ShareGroupDescribeResponse.TopicPartitions]

        def __init__(
            self,
            *,
            topic_partitions: list[ShareGroupDescribeResponse.TopicPartitions] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class TopicPartitions(MessageObject):
        topic_id: Uuid
        topic_name: str
        partitions: tuple[int, ...]

        def __init__(
            self,
            *,
            topic_id: Uuid = ...,
            topic_name: str = "",
            partitions: list[int] | tuple[int, ...] = (),
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    throttle_time_ms: int
    groups: list[ShareGroupDescribeResponse.DescribedGroup]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[ShareGroupDescribeResponse.DescribedGroup] = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
