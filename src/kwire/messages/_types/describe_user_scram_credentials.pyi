# Made from the catalog by tools/build_stubs.py; a change here is lost.
from kwire.messages._types.message_object import MessageObject

class DescribeUserScramCredentialsRequest(MessageObject):  # request 50, versions 0
    class UserName(MessageObject):
        name: str = ""

    users: list[DescribeUserScramCredentialsRequest.UserName] | None = ...

class DescribeUserScramCredentialsResponse(MessageObject):  # response 50, versions 0
    class DescribeUserScramCredentialsResult(MessageObject):
        user: str = ""
        error_code: int = 0
        error_message: str | None = ""
        credential_infos: list[DescribeUserScramCredentialsResponse.CredentialInfo] = ...

    class CredentialInfo(MessageObject):
        mechanism: int = 0
        iterations: int = 0

    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: list[DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult] = ...
