# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class DescribeDelegationTokenRequest(MessageObject):  # request 41, versions 0-3
    class DescribeDelegationTokenOwner(MessageObject):
        principal_type: str
        principal_name: str

        def __init__(
            self, *, principal_type: str = "", principal_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None

    def __init__(
        self,
        *,
        owners: list[DescribeDelegationTokenRequest.DescribeDelegationTokenOwner] | None = ...,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class DescribeDelegationTokenResponse(MessageObject):  # response 41, versions 0-3
    class DescribedDelegationToken(MessageObject):
        principal_type: str
        principal_name: str
        token_requester_principal_type: str  # 3+
        token_requester_principal_name: str  # 3+
        issue_timestamp: int
        expiry_timestamp: int
        max_timestamp: int
        token_id: str
        hmac: bytes
        renewers: list[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer]

        def __init__(
            self,
            *,
            principal_type: str = "",
            principal_name: str = "",
            token_requester_principal_type: str = "",
            token_requester_principal_name: str = "",
            issue_timestamp: int = 0,
            expiry_timestamp: int = 0,
            max_timestamp: int = 0,
            token_id: str = "",
            hmac: bytes = b"",
            renewers: list[DescribeDelegationTokenResponse.DescribedDelegationTokenRenewer] = ...,
            unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
        ) -> None: ...

    class DescribedDelegationTokenRenewer(MessageObject):
        principal_type: str
        principal_name: str

        def __init__(
            self, *, principal_type: str = "", principal_name: str = "", unknown_tagged_fields: Iterable[tuple[int, bytes]] = ()
        ) -> None: ...

    error_code: int
    tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken]
    throttle_time_ms: int

    def __init__(
        self,
        *,
        error_code: int = 0,
        tokens: list[DescribeDelegationTokenResponse.DescribedDelegationToken] = ...,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
