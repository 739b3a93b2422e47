"""Messages that are sent more than once to a FIFO queue."""

import hashlib

from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Deduplication")
MESSAGE = {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d"}


@CHAPTER.row("A duplicate gets the message id and sequence number of the original", DOCUMENTED)
def _(s):
    url = s.fifo()
    first, again = (s.send_in(url, "g", "a") for _ in range(2))
    equal((again["MessageId"], again["SequenceNumber"]), (first["MessageId"], first["SequenceNumber"]))
    s.settles(url, (1, 0, 0))


@CHAPTER.row("The id decides, also with another body", DOCUMENTED)
def _(s):
    url = s.fifo()
    s.send_in(url, "g", "a")
    s.send_in(url, "g", "b", MessageDeduplicationId="a")
    equal(s.bodies(url), ["a"])


@CHAPTER.row("A deleted message still has duplicates", RECORDED)
def _(s):
    url = s.fifo()
    first = s.send_in(url, "g", "a")
    s.delete(url, s.one(url))
    equal(s.send_in(url, "g", "a")["MessageId"], first["MessageId"])
    s.settles(url, (0, 0, 0))


@CHAPTER.row("The id of a body is its SHA-256", RECORDED)
def _(s):
    url = s.fifo(ContentBasedDeduplication="true")
    s.send(url, "same", MessageGroupId="g")
    equal(s.one(url)["Attributes"].get("MessageDeduplicationId"), hashlib.sha256(b"same").hexdigest())


@CHAPTER.row("Attributes do not count for the id of a body", DOCUMENTED)
def _(s):
    url = s.fifo(ContentBasedDeduplication="true")
    s.send(url, "same", MessageGroupId="g")
    value = {"DataType": "String", "StringValue": "x"}
    s.send(url, "same", MessageGroupId="g", MessageAttributes={"a": value})
    s.settles(url, (1, 0, 0))


@CHAPTER.row("An explicit id wins over the content", DOCUMENTED)
def _(s):
    url = s.fifo(ContentBasedDeduplication="true")
    for identifier in ["one", "two"]:
        s.send(url, "same", MessageGroupId="g", MessageDeduplicationId=identifier)
    equal(s.bodies(url, WaitTimeSeconds=1), ["same", "same"])


for scope, count in [("queue", 1), ("messageGroup", 2)]:

    @CHAPTER.row(f"The scope {scope} {'ignores groups' if count == 1 else 'keeps groups apart'}", RECORDED)
    def _(s, scope=scope, count=count):
        url = s.fifo(DeduplicationScope=scope)
        for group in "aba":
            s.send(url, MessageGroupId=group, MessageDeduplicationId="d")
        s.settles(url, (count, 0, 0))


@CHAPTER.row("An entry of a batch can be the duplicate of another", DOCUMENTED)
def _(s):
    url = s.fifo()
    output = s.done("SendMessageBatch", QueueUrl=url, Entries=[{"Id": name, **MESSAGE} for name in "ab"])
    equal(len({entry["MessageId"] for entry in output["Successful"]}), 1)
    s.settles(url, (1, 0, 0))


@CHAPTER.row("PurgeQueue forgets the ids", RECORDED)
def _(s):
    url = s.fifo()
    s.send_in(url, "g", "a")
    s.done("PurgeQueue", QueueUrl=url)
    s.send_in(url, "g", "a")
    s.settles(url, (1, 0, 0))
