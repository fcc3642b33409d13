# Made from the catalog by tools/build_stubs.py; a change here is lost.
from collections.abc import Iterable

from kwire.messages._types.message_object import MessageObject

class EndTxnRequest(MessageObject):  # request 26, versions 0-5
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...

class EndTxnResponse(MessageObject):  # response 26, versions 0-5
    throttle_time_ms: int
    error_code: int
    producer_id: int  # 5+
    producer_epoch: int  # 5+

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        unknown_tagged_fields: Iterable[tuple[int, bytes]] = (),
    ) -> None: ...
