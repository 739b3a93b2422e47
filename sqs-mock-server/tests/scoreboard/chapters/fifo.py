"""What a FIFO queue requires of a message."""

from codes import ANY, MISSING, PARAMETER
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("FIFO queues: sending")
MESSAGE = {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d"}


def on_a_fifo_queue(s):
    return {"QueueUrl": s.fifo()}


def sending(title, evidence, change, code, *text):
    members = {name: value for name, value in {**MESSAGE, **change}.items() if value is not None}
    return (title, evidence, "SendMessage", members, code, *text)


def punctuation(parameter, value):
    reason = f"{parameter} can only include alphanumeric and punctuation characters. 1 to 128 in length."
    return f"Value {value} for parameter {parameter} is invalid. Reason: {reason}"


CHAPTER.refusals(
    on_a_fifo_queue,
    sending("No message group id", RECORDED, {"MessageGroupId": None}, MISSING),
    sending("No deduplication id", RECORDED, {"MessageDeduplicationId": None}, PARAMETER),
    sending(
        "DelaySeconds of a message",
        RECORDED,
        {"DelaySeconds": 2},
        PARAMETER,
        "Value 2 for parameter DelaySeconds is invalid. Reason: "
        "The request include parameter that is not valid for this queue type.",
        RECORDED,
    ),
    sending(
        "A message group id with a space",
        RECORDED,
        {"MessageGroupId": "a b"},
        PARAMETER,
        punctuation("MessageGroupId", "a b"),
        RECORDED,
    ),
    sending(
        "A deduplication id with an umlaut",
        RECORDED,
        {"MessageDeduplicationId": "ü"},
        PARAMETER,
        punctuation("MessageDeduplicationId", "ü"),
        RECORDED,
    ),
    sending("An empty message group id", RECORDED, {"MessageGroupId": ""}, PARAMETER),
    sending("A deduplication id of 129 characters", DOCUMENTED, {"MessageDeduplicationId": "d" * 129}, PARAMETER),
    ("An attempt id of 129 characters", DOCUMENTED, "ReceiveMessage", {"ReceiveRequestAttemptId": "a" * 129}, ANY),
)


@CHAPTER.row("Ids accept 128 characters and all punctuation", DOCUMENTED)
def _(s):
    url = s.fifo()
    every = "azAZ09!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    for group, identifier in [(every, every), ("g" * 128, "d" * 128)]:
        s.send(url, MessageGroupId=group, MessageDeduplicationId=identifier)


@CHAPTER.row("DelaySeconds 0 of a message is accepted", RECORDED)
def _(s):
    s.send_in(s.fifo(), "g", "x", DelaySeconds=0)


@CHAPTER.row("Sequence numbers have 20 digits and increase", RECORDED)
def _(s):
    url = s.fifo()
    numbers = [s.send_in(url, "g", body)["SequenceNumber"] for body in "abcdefgh"]
    equal(([len(number) for number in numbers], sorted(numbers)), ([20] * 8, numbers))


@CHAPTER.row("System attributes have group, deduplication id and sequence number", DOCUMENTED)
def _(s):
    url = s.fifo()
    number = s.send_in(url, "g", "x")["SequenceNumber"]
    found = s.one(url)["Attributes"]
    names = ("MessageGroupId", "MessageDeduplicationId", "SequenceNumber")
    equal([found.get(name) for name in names], ["g", "x", number])
