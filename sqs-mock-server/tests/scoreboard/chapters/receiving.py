"""What a receive returns, and when."""

import time

from codes import PARAMETER
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal
from wire import JSON

CHAPTER = Chapter("Receiving")
FOUR = ["ApproximateFirstReceiveTimestamp", "ApproximateReceiveCount", "SenderId", "SentTimestamp"]


def ranged(parameter, reason, *values):
    def text(members):
        return f"Value {members[parameter]} for parameter {parameter} is invalid. Reason: {reason}"

    title = f"{parameter} {' or '.join(map(str, values))}"
    return (title, RECORDED, "ReceiveMessage", [{parameter: value} for value in values], PARAMETER, text, RECORDED)


CHAPTER.refusals(
    lambda s: {"QueueUrl": s.queue()},
    ranged("MaxNumberOfMessages", "Must be between 1 and 10, if provided.", 0, 11),
    ranged("WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.", -1, 21),
    (
        "VisibilityTimeout -1 or 43201",
        DOCUMENTED,
        "ReceiveMessage",
        [{"VisibilityTimeout": value} for value in (-1, 43201)],
        PARAMETER,
    ),
)


def visible(s, attributes=None):
    """A queue with a message that is visible again at once."""
    url = s.queue(VisibilityTimeout="0")
    s.send(url, **({"MessageAttributes": attributes} if attributes else {}))
    return url


def receive(s, url, **members):
    return s.one(url, **{"AttributeNames": [], "MessageAttributeNames": [], **members})


@CHAPTER.row("A message has four members when no names are given", RECORDED)
def _(s):
    equal(sorted(receive(s, visible(s))), ["Body", "MD5OfBody", "MessageId", "ReceiptHandle"])


@CHAPTER.row("All returns four system attributes of a plain message", RECORDED)
def _(s):
    url = visible(s)
    equal(sorted(receive(s, url, AttributeNames=["All"])["Attributes"]), FOUR)
    equal(sorted(receive(s, url, MessageSystemAttributeNames=["All"])["Attributes"]), FOUR)


@CHAPTER.row("AttributeNames and MessageSystemAttributeNames select system attributes", DOCUMENTED)
def _(s):
    url = visible(s)
    for member in ["AttributeNames", "MessageSystemAttributeNames"]:
        equal(sorted(receive(s, url, **{member: ["SenderId", "SentTimestamp"]})["Attributes"]), FOUR[2:])


@CHAPTER.row("MessageSystemAttributeNames wins over AttributeNames", RECORDED, (JSON,))
def _(s):
    members = {"MessageSystemAttributeNames": ["SenderId"], "AttributeNames": ["All"]}
    equal(list(receive(s, visible(s), **members)["Attributes"]), ["SenderId"])


@CHAPTER.row("Attributes is absent when no named one exists", RECORDED)
def _(s):
    assert "Attributes" not in receive(s, visible(s), AttributeNames=["MessageGroupId"])


THREE = {name: {"DataType": "String", "StringValue": "x"} for name in ("color", "Hello", "Help.Me")}
for names, expected, evidence in [
    (["All"], ["Hello", "Help.Me", "color"], DOCUMENTED),
    ([".*"], ["Hello", "Help.Me", "color"], RECORDED),
    (["*"], ["Hello", "Help.Me", "color"], RECORDED),
    (["color", "none"], ["color"], DOCUMENTED),
    (["col.*"], ["color"], RECORDED),
    (["Hel.*"], ["Hello", "Help.Me"], RECORDED),
]:

    @CHAPTER.row(f"MessageAttributeNames `{', '.join(names)}` selects message attributes", evidence)
    def _(s, names=names, expected=expected):
        message = receive(s, visible(s, THREE), MessageAttributeNames=names)
        equal(sorted(message["MessageAttributes"]), expected)


@CHAPTER.row("MessageAttributes and its MD5 are absent when no name matches", RECORDED)
def _(s):
    message = receive(s, visible(s, THREE), MessageAttributeNames=["none", "?!"])
    assert "MessageAttributes" not in message and "MD5OfMessageAttributes" not in message, message


@CHAPTER.row("A receive counts, and keeps the first time", DOCUMENTED)
def _(s):
    url = visible(s)
    first, second = (s.one(url)["Attributes"] for _ in range(2))
    equal((first["ApproximateReceiveCount"], second["ApproximateReceiveCount"]), ("1", "2"))
    name = "ApproximateFirstReceiveTimestamp"
    equal((first[name], len(first[name]), len(first["SentTimestamp"])), (second[name], 13, 13))


@CHAPTER.row("A receive returns one message by default, and ten at most", DOCUMENTED)
def _(s):
    url = s.queue(VisibilityTimeout="0")
    for _ in range(12):
        s.send(url)
    equal(len(s.done("ReceiveMessage", QueueUrl=url, WaitTimeSeconds=1)["Messages"]), 1)
    assert 1 <= len(s.receive(url, WaitTimeSeconds=1)) <= 10


@CHAPTER.row("A long poll returns at once when there is a message", RECORDED)
def _(s):
    url = s.queue()
    s.send(url)
    start = time.monotonic()
    equal(len(s.receive(url, WaitTimeSeconds=5)), 1)
    assert time.monotonic() - start < 3


@CHAPTER.row("A long poll without a message lasts its time", DOCUMENTED)
def _(s):
    start = time.monotonic()
    equal(s.receive(s.queue(), WaitTimeSeconds=2), [])
    assert 1.5 < time.monotonic() - start < 6


@CHAPTER.row("ReceiveMessageWaitTimeSeconds is the default wait", DOCUMENTED)
def _(s):
    start = time.monotonic()
    equal(s.receive(s.queue(ReceiveMessageWaitTimeSeconds="2")), [])
    assert 1.5 < time.monotonic() - start < 6


@CHAPTER.row("WaitTimeSeconds 0 overrides the queue", RECORDED)
def _(s):
    start = time.monotonic()
    equal(s.receive(s.queue(ReceiveMessageWaitTimeSeconds="5"), WaitTimeSeconds=0), [])
    assert time.monotonic() - start < 3
