# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class CreateDelegationTokenRequest(MessageObject):  # request 38, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CREATE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    class CreatableRenewers(MessageObject):
        principal_type: str = ""
        principal_name: str = ""

    owner_principal_type: str | None = ""  # 3+
    owner_principal_name: str | None = ""  # 3+
    renewers: list[CreateDelegationTokenRequest.CreatableRenewers] = ...
    max_lifetime_ms: int = 0

class CreateDelegationTokenResponse(MessageObject):  # response 38, versions 0-3
    api_key: ClassVar[Literal[ApiKey.CREATE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    error_code: int = 0
    principal_type: str = ""
    principal_name: str = ""
    token_requester_principal_type: str = ""  # 3+
    token_requester_principal_name: str = ""  # 3+
    issue_timestamp_ms: int = 0
    expiry_timestamp_ms: int = 0
    max_timestamp_ms: int = 0
    token_id: str = ""
    hmac: bytes = b""
    throttle_time_ms: int = 0
