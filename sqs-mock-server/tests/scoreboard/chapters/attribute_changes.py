"""Attributes of queues: what can be set and removed."""

import json

from codes import ANY, ATTRIBUTE_NAME, ATTRIBUTE_VALUE
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal, redrive

CHAPTER = Chapter("Queue attributes: changes")


def setting(title, evidence, values, code, *text):
    members = [{"Attributes": {name: value}} for name, value in values.items()]
    return (title, evidence, "SetQueueAttributes", members, code, *text)


def unknown(members):
    return f"Unknown Attribute {next(iter(members['Attributes']))}."


def only_fifo(members):
    return f"You can specify the {next(iter(members['Attributes']))} only when FifoQueue is set to true."


CHAPTER.refusals(
    lambda s: {"QueueUrl": s.queue()},
    setting("An unknown attribute", RECORDED, {"Colour": "red"}, ATTRIBUTE_NAME, unknown, RECORDED),
    setting("Read-only attributes", RECORDED, {"QueueArn": "x", "CreatedTimestamp": "1"}, ATTRIBUTE_NAME),
    setting(
        "FifoQueue and ContentBasedDeduplication on a standard queue",
        RECORDED,
        {"FifoQueue": "true", "ContentBasedDeduplication": "true"},
        ATTRIBUTE_NAME,
        unknown,
        RECORDED,
    ),
    setting(
        "DeduplicationScope and FifoThroughputLimit on a standard queue",
        RECORDED,
        {"DeduplicationScope": "queue", "FifoThroughputLimit": "perQueue"},
        ATTRIBUTE_NAME,
        only_fifo,
        RECORDED,
    ),
    (
        "GetQueueAttributes of an unknown name",
        RECORDED,
        "GetQueueAttributes",
        {"AttributeNames": ["Colour"]},
        ATTRIBUTE_NAME,
    ),
)
CHAPTER.refusals(
    lambda s: {"QueueUrl": s.fifo()},
    setting(
        "FifoQueue false on a FIFO queue",
        RECORDED,
        {"FifoQueue": "false"},
        ATTRIBUTE_VALUE,
        "Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.",
        RECORDED,
    ),
    setting("perMessageGroupId with the scope queue", DOCUMENTED, {"FifoThroughputLimit": "perMessageGroupId"}, ANY),
)


@CHAPTER.row("FifoQueue true on a FIFO queue is accepted", RECORDED)
def _(s):
    s.set(s.fifo(), FifoQueue="true")


@CHAPTER.row("perMessageGroupId with the scope messageGroup is accepted", DOCUMENTED)
def _(s):
    url = s.fifo(DeduplicationScope="messageGroup", FifoThroughputLimit="perMessageGroupId")
    equal(s.attributes(url, "FifoThroughputLimit"), {"FifoThroughputLimit": "perMessageGroupId"})


@CHAPTER.row("True is accepted and shown in lower case", RECORDED)
def _(s):
    url = s.fifo(ContentBasedDeduplication="True")
    equal(s.attributes(url, "ContentBasedDeduplication"), {"ContentBasedDeduplication": "true"})


@CHAPTER.row("Attributes that are not set are not returned", RECORDED)
def _(s):
    url = s.queue()
    equal(s.done("GetQueueAttributes", QueueUrl=url, AttributeNames=["Policy", "RedrivePolicy"]), {})


@CHAPTER.row("An empty RedrivePolicy removes it", RECORDED)
def _(s):
    source, _ = s.with_dead_letters()
    s.set(source, RedrivePolicy="")
    assert "RedrivePolicy" not in s.attributes(source)


@CHAPTER.row("An empty Policy removes it", DOCUMENTED)
def _(s):
    url = s.queue()
    s.done("AddPermission", QueueUrl=url, Label="l", AWSAccountIds=["123456789012"], Actions=["*"])
    assert "Policy" in s.attributes(url)
    s.set(url, Policy="")
    assert "Policy" not in s.attributes(url)


@CHAPTER.row("A KMS key turns managed encryption off, also after its removal", RECORDED)
def _(s):
    url = s.queue()
    s.set(url, KmsMasterKeyId="alias/aws/sqs")
    equal(s.attributes(url).get("SqsManagedSseEnabled"), "false")
    s.set(url, KmsMasterKeyId="")
    shown = s.attributes(url)
    equal((shown.get("KmsMasterKeyId"), shown.get("SqsManagedSseEnabled")), (None, "false"))


@CHAPTER.row("KmsDataKeyReusePeriodSeconds without a key is not shown", RECORDED)
def _(s):
    assert "KmsDataKeyReusePeriodSeconds" not in s.attributes(s.queue(KmsDataKeyReusePeriodSeconds="300"))


@CHAPTER.row("maxReceiveCount can be a string and is shown as a number", RECORDED)
def _(s):
    url = s.queue(RedrivePolicy=redrive(s.arn(s.queue()), "7"))
    equal(json.loads(s.attributes(url)["RedrivePolicy"])["maxReceiveCount"], 7)
