# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeClusterRequest(MessageObject):  # request 60, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CLUSTER]]
    valid_versions: ClassVar[Versions]
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1  # 1+
    include_fenced_brokers: bool = False  # 2+

class DescribeClusterResponse(MessageObject):  # response 60, versions 0-2
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_CLUSTER]]
    valid_versions: ClassVar[Versions]
    class DescribeClusterBroker(MessageObject):
        broker_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None
        is_fenced: bool = False  # 2+

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1  # 1+
    cluster_id: str = ""
    controller_id: int = -1
    brokers: list[DescribeClusterResponse.DescribeClusterBroker] = ...
    cluster_authorized_operations: int = -2147483648
