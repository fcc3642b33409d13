"""Error codes that are steps of Kafka's protocol, not failures; `docs/explanation/captures.md` has the table for readers."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["EXPECTED_ERRORS", "ExpectedError", "are_errors", "is_error"]


class ExpectedError(NamedTuple):
    """Error code, and the keys of the APIs in which it is an expected step; empty for all APIs."""

    code: int
    apis: tuple[int, ...] = ()


EXPECTED_ERRORS: Final = (
    ExpectedError(14),  # COORDINATOR_LOAD_IN_PROGRESS: a new coordinator reads its log; ask again
    ExpectedError(27),  # REBALANCE_IN_PROGRESS (KIP-62): join the group again
    ExpectedError(35, (18,)),  # UNSUPPORTED_VERSION of ApiVersions (KIP-511): ask with a version in the answer
    ExpectedError(51, (22, 24, 25)),  # CONCURRENT_TRANSACTIONS (KIP-98): markers of the last transaction are being written; ask again
    ExpectedError(70),  # FETCH_SESSION_ID_NOT_FOUND (KIP-227): begin another session
    ExpectedError(71),  # INVALID_FETCH_SESSION_EPOCH (KIP-227)
    ExpectedError(79),  # MEMBER_ID_REQUIRED (KIP-394): join with the id in the answer
    ExpectedError(106),  # FETCH_SESSION_TOPIC_ID_ERROR (KIP-516): begin another session, as some topics have no id
    ExpectedError(117),  # UNKNOWN_SUBSCRIPTION_ID (KIP-714): the subscription changed; get the new one
    ExpectedError(122),  # SHARE_SESSION_NOT_FOUND (KIP-932): begin another session
    ExpectedError(123),  # INVALID_SHARE_SESSION_EPOCH (KIP-932)
)

_ALWAYS: Final = frozenset(each.code for each in EXPECTED_ERRORS if not each.apis)
_BY_API: Final = frozenset(key << 16 | each.code for each in EXPECTED_ERRORS for key in each.apis)


def is_error(api_key: int | None, code: int | None) -> bool | None:
    """Return whether a response failed; None without a code."""
    return None if code is None else code != 0 and code not in _ALWAYS and (api_key or 0) << 16 | code not in _BY_API


def are_errors(api_keys: npt.NDArray[np.integer[Any]], codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
    """Do the same for columns; 0 means no error."""
    failed: npt.NDArray[np.bool_] = codes != 0
    at = np.flatnonzero(failed)  # few rows in most traffic
    wrong = codes[at]
    failed[at] = ~(np.isin(wrong, list(_ALWAYS)) | np.isin(api_keys[at] << 16 | wrong, list(_BY_API)))
    return failed
