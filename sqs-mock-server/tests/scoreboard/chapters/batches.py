"""Batches: refused as a whole, or entry by entry."""

from codes import BATCH_TOO_LONG, EMPTY_BATCH, IDS_NOT_DISTINCT, INVALID_BATCH_ID, PARAMETER, TOO_MANY_ENTRIES
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter, refused
from session import equal

CHAPTER = Chapter("Batches")
ACTIONS = {
    "SendMessageBatch": {"MessageBody": "x"},
    "DeleteMessageBatch": {"ReceiptHandle": "h"},
    "ChangeMessageVisibilityBatch": {"ReceiptHandle": "h", "VisibilityTimeout": 1},
}


def on_a_queue(s):
    return {"QueueUrl": s.queue()}


def every_action(title, code, *ids):
    """Declares ids of entries for which all three actions are refused."""

    @CHAPTER.row(f"{refused(title)}, by all three actions", DOCUMENTED)
    def _(s):
        for action, members in ACTIONS.items():
            entries = [{"Id": identifier, **members} for identifier in ids]
            s.refused(action, code, QueueUrl=s.queue(), Entries=entries)


every_action("No entry", EMPTY_BATCH)
every_action("Eleven entries", TOO_MANY_ENTRIES, *map(str, range(11)))
every_action("The id a.b", INVALID_BATCH_ID, "a.b")
every_action("A repeated id", IDS_NOT_DISTINCT, "a", "b", "b", "a")
CHAPTER.refusals(
    on_a_queue,
    (
        "An id of 81 characters",
        DOCUMENTED,
        "SendMessageBatch",
        {"Entries": [{"Id": "x" * 81, "MessageBody": "x"}]},
        INVALID_BATCH_ID,
    ),
)


@CHAPTER.row("An id of 80 letters, digits, hyphens and underscores is accepted", DOCUMENTED)
def _(s):
    entries = [{"Id": identifier, "MessageBody": "x"} for identifier in ("aZ09_-", "x" * 80)]
    output = s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=entries)
    equal([entry["Id"] for entry in output["Successful"]], ["aZ09_-", "x" * 80])


@CHAPTER.row("An entry of a sent batch has id, message id and MD5", DOCUMENTED)
def _(s):
    output = s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=[{"Id": "a", "MessageBody": "x"}])
    equal(sorted(output["Successful"][0]), ["Id", "MD5OfMessageBody", "MessageId"])


@CHAPTER.row("A batch of 1,048,576 bytes is accepted", DOCUMENTED)
def _(s):
    entries = [{"Id": identifier, "MessageBody": "x" * 524288} for identifier in "ab"]
    equal(len(s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=entries)["Successful"]), 2)


LONG = [{"Id": "a", "MessageBody": "x" * 524288}, {"Id": "b", "MessageBody": "x" * 524289}]
CHAPTER.refusals(
    on_a_queue,
    (
        "A batch of 1,048,577 bytes",
        DOCUMENTED,
        "SendMessageBatch",
        {"Entries": LONG},
        BATCH_TOO_LONG,
    ),
)


def failed(s, url, action, entry):
    """Calls an action with this entry; returns how it failed."""
    output = s.done(action, QueueUrl=url, Entries=[{"Id": "a", **entry}])
    assert len(output.get("Failed", [])) == 1, output
    return output["Failed"][0]


def fails(title, evidence, code, entry, action="SendMessageBatch", **attributes):
    @CHAPTER.row(title, evidence)
    def _(s):
        found = failed(s, s.queue(**attributes), action, entry)
        equal((found["Id"], found["Code"], found["SenderFault"]), ("a", code, True))


fails("An entry with U+0001 fails alone", RECORDED, "InvalidMessageContents", {"MessageBody": "\x01"})
fails(
    "An entry over the limit of the queue fails alone",
    RECORDED,
    "InvalidParameterValue",
    {"MessageBody": "x" * 1025},
    MaximumMessageSize="1024",
)
for action in ["DeleteMessageBatch", "ChangeMessageVisibilityBatch"]:
    entry = {"ReceiptHandle": "garbage", **({"VisibilityTimeout": 1} if action[0] == "C" else {})}
    fails(f"An entry of {action} with an invalid handle fails alone", RECORDED, "ReceiptHandleIsInvalid", entry, action)


@CHAPTER.row("The text about an entry over the limit of the queue", RECORDED)
def _(s):
    found = failed(s, s.queue(MaximumMessageSize="1024"), "SendMessageBatch", {"MessageBody": "x" * 1025})
    expected = "One or more parameters cannot be validated. Reason: Message must be shorter than 1024 bytes."
    equal(found["Message"], expected)


@CHAPTER.row("Good entries succeed beside failed ones", RECORDED)
def _(s):
    url = s.queue()
    entries = [{"Id": "good", "MessageBody": "x"}, {"Id": "bad", "MessageBody": "\x01"}]
    output = s.done("SendMessageBatch", QueueUrl=url, Entries=entries)
    equal([entry["Id"] for entry in output["Successful"]], ["good"])
    equal([entry["Id"] for entry in output["Failed"]], ["bad"])
    equal(s.one(url)["Body"], "x")


@CHAPTER.row("A visibility change of a deleted message is ReceiptHandleIsInvalid in a batch", RECORDED)
def _(s):
    url = s.queue()
    s.send(url)
    message = s.one(url)
    s.delete(url, message)
    entry = {"ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 1}
    found = failed(s, url, "ChangeMessageVisibilityBatch", entry)
    equal((found["Code"], found["SenderFault"]), ("ReceiptHandleIsInvalid", True))
    equal(found["Message"], "Message does not exist or is not available for visibility timeout change")


@CHAPTER.row("DelaySeconds of a FIFO entry is InvalidParameterValue of the entry", LOGGED)
def _(s):
    entry = {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d", "DelaySeconds": 2}
    found = failed(s, s.fifo(), "SendMessageBatch", entry)
    equal((found["Code"], found["SenderFault"]), ("InvalidParameterValue", True))
    equal(found["Message"], "The request include parameter that is not valid for this queue type")


for what, missing in [("message group id", "MessageGroupId"), ("deduplication id", "MessageDeduplicationId")]:

    @CHAPTER.row(f"A FIFO entry without a {what} fails the whole batch", RECORDED)
    def _(s, missing=missing):
        url = s.fifo()
        good = {"Id": "good", "MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
        bad = {name: value for name, value in {**good, "Id": "bad"}.items() if name != missing}
        s.refused("SendMessageBatch", PARAMETER, QueueUrl=url, Entries=[good, bad])
        s.settles(url, (0, 0, 0))


@CHAPTER.row("A batch deletes and hides its messages", DOCUMENTED)
def _(s):
    url = s.queue()
    for body in "ab":
        s.send(url, body)
    found = {}
    s.eventually(lambda: found.update({m["Body"]: m["ReceiptHandle"] for m in s.receive(url)}) or len(found) == 2)
    entries = [{"Id": body, "ReceiptHandle": handle, "VisibilityTimeout": 0} for body, handle in found.items()]
    output = s.done("ChangeMessageVisibilityBatch", QueueUrl=url, Entries=entries)
    equal(sorted(entry["Id"] for entry in output["Successful"]), ["a", "b"])
    s.settles(url, (2, 0, 0))
    for entry in entries:
        del entry["VisibilityTimeout"]
    s.done("DeleteMessageBatch", QueueUrl=url, Entries=entries)
    s.settles(url, (0, 0, 0))
