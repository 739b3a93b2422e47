"""Requests about queues that do not exist."""

from codes import NO_QUEUE
from rows import RECORDED, Chapter

CHAPTER = Chapter("Unknown queues")


def on_unknown_queues(what, **actions):
    @CHAPTER.row(f"Actions on {what} refuse an unknown queue", RECORDED)
    def _(s):
        url = s.queue() + "-not"
        for action, members in actions.items():
            s.refused(action, NO_QUEUE, QueueUrl=url, **members)


on_unknown_queues(
    "queues",
    DeleteQueue={},
    GetQueueAttributes={"AttributeNames": ["All"]},
    ListDeadLetterSourceQueues={},
    PurgeQueue={},
    SetQueueAttributes={"Attributes": {"DelaySeconds": "1"}},
)
on_unknown_queues(
    "tags and permissions",
    AddPermission={"Label": "l", "AWSAccountIds": ["123456789012"], "Actions": ["*"]},
    ListQueueTags={},
    RemovePermission={"Label": "l"},
    TagQueue={"Tags": {"a": "b"}},
    UntagQueue={"TagKeys": ["a"]},
)
on_unknown_queues(
    "messages",
    ChangeMessageVisibility={"ReceiptHandle": "h", "VisibilityTimeout": 1},
    DeleteMessage={"ReceiptHandle": "h"},
    ReceiveMessage={},
    SendMessage={"MessageBody": "x"},
)
on_unknown_queues(
    "batches",
    ChangeMessageVisibilityBatch={"Entries": [{"Id": "a", "ReceiptHandle": "h", "VisibilityTimeout": 1}]},
    DeleteMessageBatch={"Entries": [{"Id": "a", "ReceiptHandle": "h"}]},
    SendMessageBatch={"Entries": [{"Id": "a", "MessageBody": "x"}]},
)
CHAPTER.refusals(
    lambda s: {},
    ("GetQueueUrl of an unknown queue", RECORDED, "GetQueueUrl", {"QueueName": "no-such-queue"}, NO_QUEUE),
    ("SendMessage without a queue URL", RECORDED, "SendMessage", {"MessageBody": "x"}, NO_QUEUE),
    ("GetQueueAttributes without a queue URL", RECORDED, "GetQueueAttributes", {}, NO_QUEUE),
)
