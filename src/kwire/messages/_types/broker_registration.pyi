# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.codec.uuids import Uuid
from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class BrokerRegistrationRequest(MessageObject):  # request 62, versions 0-4
    api_key: ClassVar[Literal[ApiKey.BROKER_REGISTRATION]]
    valid_versions: ClassVar[Versions]
    class Listener(MessageObject):
        name: str = ""
        host: str = ""
        port: int = 0
        security_protocol: int = 0

    class Feature(MessageObject):
        name: str = ""
        min_supported_version: int = 0
        max_supported_version: int = 0

    broker_id: int = 0
    cluster_id: str = ""
    incarnation_id: Uuid = ...
    listeners: list[BrokerRegistrationRequest.Listener] = ...
    features: list[BrokerRegistrationRequest.Feature] = ...
    rack: str | None = ""
    is_migrating_zk_broker: bool = False  # 1+
    log_dirs: tuple[Uuid, ...] = ()  # 2+
    previous_broker_epoch: int = -1  # 3+

class BrokerRegistrationResponse(MessageObject):  # response 62, versions 0-4
    api_key: ClassVar[Literal[ApiKey.BROKER_REGISTRATION]]
    valid_versions: ClassVar[Versions]
    throttle_time_ms: int = 0
    error_code: int = 0
    broker_epoch: int = -1
