"""Names, creation, lists, and purges of queues."""

from codes import ANY, DELETED_RECENTLY, PARAMETER, PURGE_IN_PROGRESS, QUEUE_EXISTS
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Queues")

FIFO = {"Attributes": {"FifoQueue": "true"}}


def nothing(_):
    return {}


CHAPTER.refusals(
    nothing,
    (
        "A name with a space, a period, a slash or an umlaut",
        DOCUMENTED,
        "CreateQueue",
        [{"QueueName": name} for name in ("a b", "a.b", "a/b", "ü")],
        PARAMETER,
    ),
    (
        "A name of 81 characters, the suffix .fifo included",
        DOCUMENTED,
        "CreateQueue",
        [{"QueueName": "x" * 81}, {"QueueName": "x" * 76 + ".fifo", **FIFO}],
        PARAMETER,
    ),
    ("FifoQueue without .fifo in the name", RECORDED, "CreateQueue", {"QueueName": "x", **FIFO}, PARAMETER),
    (".fifo in the name without FifoQueue", RECORDED, "CreateQueue", {"QueueName": "x.fifo"}, PARAMETER),
    ("GetQueueUrl without a name", RECORDED, "GetQueueUrl", {}, PARAMETER),
    ("MaxResults 0 or 1001", DOCUMENTED, "ListQueues", [{"MaxResults": 0}, {"MaxResults": 1001}], ANY),
)


@CHAPTER.row("A name of 80 characters is accepted, the suffix .fifo included", DOCUMENTED)
def _(s):
    s.queue(s.new_name().ljust(80, "x"))
    s.queue(s.new_name().ljust(75, "_") + ".fifo", FifoQueue="true")


@CHAPTER.row("CreateQueue of an existing queue without attributes returns it", RECORDED)
def _(s):
    name = s.new_name()
    equal(s.queue(name, DelaySeconds="5"), s.queue(name))


@CHAPTER.row("CreateQueue with the current values returns the queue, also after a change", RECORDED)
def _(s):
    name = s.new_name()
    url = s.queue(name, DelaySeconds="5")
    s.set(url, VisibilityTimeout="77")
    equal(s.queue(name, DelaySeconds="5", VisibilityTimeout="77"), url)


@CHAPTER.row("CreateQueue with another value is QueueNameExists", RECORDED)
def _(s):
    name = s.new_name()
    s.queue(name, DelaySeconds="5")
    s.refused("CreateQueue", QUEUE_EXISTS, QueueName=name, Attributes={"DelaySeconds": "6"})


@CHAPTER.row("CreateQueue with the value before a change is QueueNameExists", RECORDED)
def _(s):
    name = s.new_name()
    s.set(s.queue(name, DelaySeconds="5"), DelaySeconds="6")
    s.refused("CreateQueue", QUEUE_EXISTS, QueueName=name, Attributes={"DelaySeconds": "5"})


@CHAPTER.row("The text of QueueNameExists names the attribute", RECORDED)
def _(s):
    name = s.new_name()
    s.queue(name)
    refusal = s.refused("CreateQueue", QUEUE_EXISTS, QueueName=name, Attributes={"DelaySeconds": "6"})
    expected = "A queue already exists with the same name and a different value for attribute DelaySeconds"
    equal(refusal.message, expected)


@CHAPTER.row("CreateQueue with other tags is QueueNameExists", LOGGED)
def _(s):
    name = s.new_name()
    s.queue(name, tags={"a": "b"})
    s.refused("CreateQueue", QUEUE_EXISTS, QueueName=name, tags={"a": "c"})


@CHAPTER.row("CreateQueue soon after DeleteQueue is QueueDeletedRecently", DOCUMENTED)
def _(s):
    name = s.new_name()
    s.done("DeleteQueue", QueueUrl=s.queue(name))
    s.refused("CreateQueue", DELETED_RECENTLY, QueueName=name)


@CHAPTER.row("GetQueueUrl returns the URL of CreateQueue", DOCUMENTED)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    equal(s.done("GetQueueUrl", QueueName=name), {"QueueUrl": url})


@CHAPTER.row("The path of a queue URL is the account and the name", DOCUMENTED)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    account, last = url.split("/")[-2:]
    assert len(account) == 12 and account.isdigit() and last == name, url
    equal(s.arn(url), f"arn:aws:sqs:us-east-1:{account}:{name}")


@CHAPTER.row("PurgeQueue removes visible, delayed and in-flight messages", RECORDED)
def _(s):
    url = s.queue()
    for body in "ab":
        s.send(url, body)
    s.send(url, "c", DelaySeconds=60)
    s.receive(url, 1, WaitTimeSeconds=2)
    s.done("PurgeQueue", QueueUrl=url)
    s.settles(url, (0, 0, 0))


@CHAPTER.row("PurgeQueue twice within 60 seconds is PurgeQueueInProgress", RECORDED)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    s.done("PurgeQueue", QueueUrl=url)
    s.refused("PurgeQueue", PURGE_IN_PROGRESS, QueueUrl=url)


@CHAPTER.row("The text of PurgeQueueInProgress names the queue", RECORDED)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    s.done("PurgeQueue", QueueUrl=url)
    refusal = s.refused("PurgeQueue", PURGE_IN_PROGRESS, QueueUrl=url)
    equal(refusal.message, f"Only one PurgeQueue operation on {name} is allowed every 60 seconds.")
