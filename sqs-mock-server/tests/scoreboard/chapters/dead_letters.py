"""Dead-letter queues."""

import time

from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Dead-letter queues")


def moved(s, fifo=False, **members):
    """A source, its dead-letter queue, what was sent, and the message as it arrived there."""
    source, dead = s.with_dead_letters(fifo=fifo)
    if fifo:
        sent = s.send_in(source, "g", "x")
    else:
        sent = s.send(source, **members)
    before = s.one(source)
    equal(s.bodies(source), [])
    return source, dead, sent, before, s.one(dead)


@CHAPTER.row("A message moves on the receive after maxReceiveCount", RECORDED)
def _(s):
    source, dead = s.with_dead_letters(most=2)
    s.send(source)
    for _ in range(2):
        s.one(source)
    s.settles(dead, (0, 0, 0))
    equal(s.bodies(source), [])
    equal(s.one(dead)["Body"], "x")


@CHAPTER.row("Nothing moves without a receive", RECORDED)
def _(s):
    source, dead = s.with_dead_letters()
    s.send(source)
    s.one(source)
    time.sleep(1)
    s.settles(source, (1, 0, 0))
    s.settles(dead, (0, 0, 0))


@CHAPTER.row("A moved message keeps its id and SentTimestamp", RECORDED)
def _(s):
    _, _, sent, before, after = moved(s)
    equal(after["MessageId"], sent["MessageId"])
    equal(after["Attributes"]["SentTimestamp"], before["Attributes"]["SentTimestamp"])


@CHAPTER.row("A moved message keeps its attributes", RECORDED)
def _(s):
    attributes = {"a": {"DataType": "Number", "StringValue": "7"}}
    *_, after = moved(s, MessageAttributes=attributes)
    equal(after.get("MessageAttributes"), attributes)


@CHAPTER.row("The receive count of a moved message goes on", RECORDED)
def _(s):
    *_, after = moved(s)
    equal(after["Attributes"]["ApproximateReceiveCount"], "2")


@CHAPTER.row("A moved message has DeadLetterQueueSourceArn", RECORDED)
def _(s):
    source, _, _, before, after = moved(s)
    assert "DeadLetterQueueSourceArn" not in before["Attributes"]
    equal(after["Attributes"].get("DeadLetterQueueSourceArn"), s.arn(source))


@CHAPTER.row("A moved FIFO message keeps its group", DOCUMENTED)
def _(s):
    *_, after = moved(s, fifo=True)
    equal(after["Attributes"].get("MessageGroupId"), "g")


@CHAPTER.row("A moved FIFO message has its message id as deduplication id", DOCUMENTED)
def _(s):
    _, _, sent, _, after = moved(s, fifo=True)
    equal(after["Attributes"].get("MessageDeduplicationId"), sent["MessageId"])


@CHAPTER.row("ListDeadLetterSourceQueues lists the sources", DOCUMENTED)
def _(s):
    source, dead = s.with_dead_letters()
    equal(s.done("ListDeadLetterSourceQueues", QueueUrl=dead), {"queueUrls": [source]})
    s.set(source, RedrivePolicy="")
    equal(s.done("ListDeadLetterSourceQueues", QueueUrl=dead), {})


@CHAPTER.row("Messages stay when the dead-letter queue is deleted", DOCUMENTED)
def _(s):
    source, dead = s.with_dead_letters()
    s.send(source)
    s.done("DeleteQueue", QueueUrl=dead)
    assert "RedrivePolicy" in s.attributes(source)
    counts = [s.one(source)["Attributes"]["ApproximateReceiveCount"] for _ in range(3)]
    equal(counts, ["1", "2", "3"])
