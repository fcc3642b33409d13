# Made from the catalog by tools/build_stubs.py; a change here is lost.
from typing import ClassVar, Literal

from kwire.messages._types.message_object import MessageObject
from kwire.schema.model import Versions
from kwire.schema.wire_enums import ApiKey

class DescribeDelegationTokenRequest(MessageObject):  # request 41, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    class DescribeDelegationTokenOwner(MessageObject):
        principal_type: str = ""
        principal_name: str = ""

    owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = ...

class DescribeDelegationTokenResponse(MessageObject):  # response 41, versions 0-3
    api_key: ClassVar[Literal[ApiKey.DESCRIBE_DELEGATION_TOKEN]]
    valid_versions: ClassVar[Versions]
    class DescribedDelegationToken(MessageObject):
        principal_type: str = ""
        principal_name: str = ""
        token_requester_principal_type: str = ""  # 3+
        token_requester_principal_name: str = ""  # 3+
        issue_timestamp: int = 0
        expiry_timestamp: int = 0
        max_timestamp: int = 0
        token_id: str = ""
        hmac: bytes = b""
        renewers: list[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer] = ...

    class DescribedDelegationTokenRenewer(MessageObject):
        principal_type: str = ""
        principal_name: str = ""

    error_code: int = 0
    tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken] = ...
    throttle_time_ms: int = 0
