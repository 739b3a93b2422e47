"""Visibility, and what receipt handles are good for."""

import time

from codes import BAD_HANDLE, MISSING, PARAMETER
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Visibility and receipt handles")
CHANGE = "ChangeMessageVisibility"
HANDLE = {"ReceiptHandle": "x"}


def received(s, fifo=False, **attributes):
    """A queue and its message, which is in flight."""
    url = s.fifo(**attributes) if fifo else s.queue(**attributes)
    if fifo:
        s.send_in(url, "g", "x")
    else:
        s.send(url)
    return url, s.one(url)


CHAPTER.refusals(
    lambda s: {"QueueUrl": s.queue()},
    (
        "DeleteMessage with an invalid handle",
        RECORDED,
        "DeleteMessage",
        {"ReceiptHandle": "x"},
        BAD_HANDLE,
        'The input receipt handle "x" is not a valid receipt handle.',
        RECORDED,
    ),
    (
        "ChangeMessageVisibility with an invalid handle",
        RECORDED,
        CHANGE,
        {**HANDLE, "VisibilityTimeout": 1},
        BAD_HANDLE,
    ),
    ("DeleteMessage without a handle", RECORDED, "DeleteMessage", {}, MISSING),
    (
        "ChangeMessageVisibility without a handle or a timeout",
        RECORDED,
        CHANGE,
        [{"VisibilityTimeout": 1}, HANDLE],
        MISSING,
    ),
)


@CHAPTER.row("A received message is hidden and counts as in flight", DOCUMENTED)
def _(s):
    url, _ = received(s)
    equal(s.bodies(url), [])
    s.settles(url, (0, 1, 0))


@CHAPTER.row("A message is visible again after its timeout", DOCUMENTED)
def _(s):
    url, _ = received(s, VisibilityTimeout="1")
    equal(s.one(url, WaitTimeSeconds=4)["Attributes"]["ApproximateReceiveCount"], "2")


@CHAPTER.row("VisibilityTimeout of a receive overrides the queue", DOCUMENTED)
def _(s):
    url = s.queue(VisibilityTimeout="0")
    s.send(url)
    s.one(url, VisibilityTimeout=60)
    equal(s.bodies(url), [])


@CHAPTER.row("Each receive returns a new handle", RECORDED)
def _(s):
    url = s.queue(VisibilityTimeout="0")
    s.send(url)
    equal(len({s.one(url)["ReceiptHandle"] for _ in range(3)}), 3)


@CHAPTER.row("ChangeMessageVisibility to 0 returns the message at once", DOCUMENTED)
def _(s):
    url, message = received(s)
    s.hide(url, message, 0)
    equal(s.one(url)["Body"], "x")


@CHAPTER.row("ChangeMessageVisibility replaces the remaining time", DOCUMENTED)
def _(s):
    url, message = received(s, VisibilityTimeout="1")
    s.hide(url, message, 60)
    time.sleep(1.5)
    equal(s.bodies(url), [])
    s.settles(url, (0, 1, 0))


@CHAPTER.row("ChangeMessageVisibility to -1 or 43201 is InvalidParameterValue", DOCUMENTED)
def _(s):
    url, message = received(s)
    members = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
    for bad in [-1, 43201]:
        s.refused("ChangeMessageVisibility", PARAMETER, VisibilityTimeout=bad, **members)


@CHAPTER.row("ChangeMessageVisibility to 12 hours some time after the receive is refused", DOCUMENTED)
def _(s):
    url, message = received(s)
    time.sleep(2.1)
    handle = message["ReceiptHandle"]
    s.refused("ChangeMessageVisibility", PARAMETER, QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=43200)


@CHAPTER.row("DeleteMessage a second time succeeds", RECORDED)
def _(s):
    url, message = received(s)
    for _ in range(2):
        s.delete(url, message)
    s.settles(url, (0, 0, 0))


@CHAPTER.row("DeleteMessage after the timeout deletes on a standard queue", RECORDED)
def _(s):
    url, message = received(s, VisibilityTimeout="1")
    time.sleep(1.3)
    s.delete(url, message)
    equal(s.bodies(url), [])
    s.settles(url, (0, 0, 0))


def expired(message):
    handle = message["ReceiptHandle"]
    return f"Value {handle} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired."


@CHAPTER.row("DeleteMessage after the timeout is refused on a FIFO queue", RECORDED)
def _(s):
    url, message = received(s, fifo=True, VisibilityTimeout="1")
    time.sleep(1.3)
    refusal = s.refused("DeleteMessage", PARAMETER, QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    equal(refusal.message, expired(message))


@CHAPTER.row("ChangeMessageVisibility after the timeout is refused on a FIFO queue", LOGGED)
def _(s):
    url, message = received(s, fifo=True, VisibilityTimeout="1")
    time.sleep(1.3)
    members = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 5}
    equal(s.refused("ChangeMessageVisibility", PARAMETER, **members).message, expired(message))


@CHAPTER.row("ChangeMessageVisibility after the timeout succeeds on a standard queue", RECORDED)
def _(s):
    url, message = received(s, VisibilityTimeout="1")
    time.sleep(1.3)
    s.hide(url, message, 60)


@CHAPTER.row("ChangeMessageVisibility with an older handle succeeds on a standard queue", RECORDED)
def _(s):
    url, message = received(s, VisibilityTimeout="0")
    s.one(url, VisibilityTimeout=60)
    s.hide(url, message, 0)


@CHAPTER.row("ChangeMessageVisibility of a deleted message is refused", RECORDED)
def _(s):
    for fifo in [False, True]:
        url, message = received(s, fifo)
        s.delete(url, message)
        members = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 5}
        s.refused("ChangeMessageVisibility", PARAMETER, **members)


@CHAPTER.row("The text about a visibility change of a deleted message", RECORDED)
def _(s):
    url, message = received(s)
    s.delete(url, message)
    handle = message["ReceiptHandle"]
    refusal = s.refused("ChangeMessageVisibility", PARAMETER, QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=5)
    reason = "Message does not exist or is not available for visibility timeout change."
    equal(refusal.message, f"Value {handle} for parameter ReceiptHandle is invalid. Reason: {reason}")


@CHAPTER.row("The handle of another queue is ReceiptHandleIsInvalid", LOGGED)
def _(s):
    _, message = received(s)
    handle = message["ReceiptHandle"]
    refusal = s.refused("DeleteMessage", BAD_HANDLE, QueueUrl=s.queue(), ReceiptHandle=handle)
    equal(refusal.message, f'The receipt handle "{handle}" is not valid for this queue.')
