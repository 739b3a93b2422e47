"""Attributes of queues: names, defaults and ranges."""

import time

from codes import ATTRIBUTE_NAME, ATTRIBUTE_VALUE
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Queue attributes: defaults and ranges")
STANDARD = {
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "DelaySeconds",
    "LastModifiedTimestamp",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "QueueArn",
    "ReceiveMessageWaitTimeSeconds",
    "SqsManagedSseEnabled",
    "VisibilityTimeout",
}
FIFO = {"ContentBasedDeduplication", "DeduplicationScope", "FifoQueue", "FifoThroughputLimit"}


@CHAPTER.row("A new standard queue has exactly 12 attributes", RECORDED)
def _(s):
    equal(sorted(s.attributes(s.queue())), sorted(STANDARD))


@CHAPTER.row("A new FIFO queue has four more", RECORDED)
def _(s):
    equal(sorted(s.attributes(s.fifo())), sorted(STANDARD | FIFO))


@CHAPTER.row("Times have their defaults", DOCUMENTED)
def _(s):
    names = ("DelaySeconds", "MessageRetentionPeriod", "ReceiveMessageWaitTimeSeconds", "VisibilityTimeout")
    equal(s.attributes(s.queue(), *names), dict(zip(names, ("0", "345600", "0", "30"), strict=True)))


@CHAPTER.row("MaximumMessageSize is 1048576 by default", DOCUMENTED)
def _(s):
    equal(s.attributes(s.queue())["MaximumMessageSize"], "1048576")


@CHAPTER.row("SqsManagedSseEnabled is true by default", DOCUMENTED)
def _(s):
    equal(s.attributes(s.queue()).get("SqsManagedSseEnabled"), "true")


@CHAPTER.row("A FIFO queue deduplicates per queue and not by content by default", DOCUMENTED)
def _(s):
    shown = s.attributes(s.fifo())
    expected = {
        "ContentBasedDeduplication": "false",
        "DeduplicationScope": "queue",
        "FifoQueue": "true",
        "FifoThroughputLimit": "perQueue",
    }
    equal({name: shown.get(name) for name in expected}, expected)


@CHAPTER.row("Timestamps are seconds, and the second one follows changes", DOCUMENTED)
def _(s):
    url = s.queue()
    created = s.attributes(url)["CreatedTimestamp"]
    assert abs(int(created) - time.time()) < 600, created
    time.sleep(1.1)
    s.set(url, DelaySeconds="1")
    shown = s.attributes(url)
    equal(shown["CreatedTimestamp"], created)
    assert int(shown["LastModifiedTimestamp"]) > int(created), shown


for attribute, least, most in [
    ("DelaySeconds", 0, 900),
    ("MaximumMessageSize", 1024, 1048576),
    ("MessageRetentionPeriod", 60, 1209600),
    ("ReceiveMessageWaitTimeSeconds", 0, 20),
    ("VisibilityTimeout", 0, 43200),
]:

    @CHAPTER.row(f"{attribute} is from {least} to {most}, other values are refused", RECORDED)
    def _(s, attribute=attribute, least=least, most=most):
        url = s.queue()
        for good in [least, most]:
            s.set(url, **{attribute: str(good)})
            equal(s.attributes(url, attribute), {attribute: str(good)})
        for bad in [least - 1, most + 1, "soon"]:
            s.refused("SetQueueAttributes", ATTRIBUTE_VALUE, QueueUrl=url, Attributes={attribute: str(bad)})


def creating(title, name, value, code, **more):
    return (title, RECORDED, "CreateQueue", {"Attributes": {name: value, **more}}, code)


CHAPTER.refusals(
    lambda s: {"QueueName": s.new_name()},
    creating("CreateQueue with DelaySeconds 901", "DelaySeconds", "901", ATTRIBUTE_VALUE),
    creating("CreateQueue with an unknown attribute", "Colour", "red", ATTRIBUTE_NAME),
    creating(
        "CreateQueue with KmsMasterKeyId and SqsManagedSseEnabled",
        "KmsMasterKeyId",
        "alias/aws/sqs",
        ATTRIBUTE_NAME,
        SqsManagedSseEnabled="true",
    ),
)
