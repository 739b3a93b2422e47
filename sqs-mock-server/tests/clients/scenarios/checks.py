"""What scenarios assert with."""

import time

from botocore.exceptions import ClientError


def only(things):
    assert len(things) == 1, things
    return things[0]


def equal(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def refused(code, call, **arguments):
    """Asserts that a call is refused with this code; returns the text."""
    try:
        call(**arguments)
    except ClientError as error:
        equal(error.response["Error"]["Code"], code)
        return error.response["Error"]["Message"]
    raise AssertionError(f"not refused with {code}")


def eventually(look):
    """Looks until there is something to see: what the server does in the background takes it a moment."""
    for _ in range(500):
        seen = look()
        if seen:
            return seen
        time.sleep(0.01)
    raise AssertionError("it does not come")
