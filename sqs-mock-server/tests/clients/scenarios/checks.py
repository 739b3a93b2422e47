"""Assertions of the scenarios."""

import time

from botocore.exceptions import ClientError


def only(things):
    assert len(things) == 1, things
    return things[0]


def equal(given, expected):
    assert given == expected, f"expected {expected!r}, got {given!r}"


def rejected(code, call, **arguments):
    """Asserts that a call is rejected with this code. Returns the error message."""
    try:
        call(**arguments)
    except ClientError as error:
        equal(error.response["Error"]["Code"], code)
        return error.response["Error"]["Message"]
    raise AssertionError(f"not rejected with {code}")


def eventually(condition):
    """Waits for background work of the server: repeats the condition until its result is true, and returns the result."""
    for _ in range(500):
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise AssertionError("the condition did not become true within 5 seconds")
