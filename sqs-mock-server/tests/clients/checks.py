"""Assertions of the tours of topics and S3 events."""

from botocore.exceptions import ClientError


def equal(given, expected):
    assert given == expected, f"expected {expected!r}, got {given!r}"


def only(things):
    equal(len(things), 1)
    return things[0]


def rejected(error, status, code, text, call, **arguments):
    """Asserts that a call raises this exception with this status and code, and that its message starts with the text."""
    try:
        call(**arguments)
    except ClientError as raised:
        given, metadata = raised.response["Error"], raised.response["ResponseMetadata"]
        equal((type(raised), metadata["HTTPStatusCode"], given["Code"]), (error, status, code))
        assert metadata["RequestId"], raised.response
        equal(given["Message"][: len(text)], text)
        return
    raise AssertionError(f"{call.__name__} was not rejected with {code}")
