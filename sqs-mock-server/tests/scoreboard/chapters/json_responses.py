"""AWS JSON as bytes: requests, and responses of actions that succeed."""

import re

from rows import DOCUMENTED, RECORDED, Chapter
from session import equal
from wire import JSON, JSON_TYPE

CHAPTER = Chapter("AWS JSON: requests and responses")
ONLY = (JSON,)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
PERMISSION = {"Label": "l", "AWSAccountIds": ["123456789012"], "Actions": ["*"]}


@CHAPTER.row("A request is accepted at the path of a queue", RECORDED, ONLY)
def _(s):
    url = s.queue()
    response = s.wire.json("SendMessage", {"QueueUrl": url, "MessageBody": "x"}, path="/" + url.split("/", 3)[3])
    assert response.status == 200 and response.json()["MessageId"], response.text()


@CHAPTER.row("A queue name instead of a queue URL is a queue of the caller", RECORDED, ONLY)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    s.send(name)
    equal(s.one(url)["Body"], "x")


@CHAPTER.row("The content type of a response is that of AWS JSON 1.0", RECORDED, ONLY)
def _(s):
    equal(s.wire.json("ListQueues", "{}").headers.get("content-type"), JSON_TYPE)


@CHAPTER.row("A response has a UUID in x-amzn-RequestId", RECORDED, ONLY)
def _(s):
    identifier = s.wire.json("ListQueues", "{}").headers.get("x-amzn-requestid", "")
    assert UUID.fullmatch(identifier), identifier


def no_bytes(s, url, action, **members):
    response = s.wire.json(action, {"QueueUrl": url, **members})
    equal((action, response.status, response.body), (action, 200, b""))


@CHAPTER.row("Actions on queues without output return no bytes", RECORDED, ONLY)
def _(s):
    url = s.queue()
    no_bytes(s, url, "SetQueueAttributes", Attributes={"DelaySeconds": "1"})
    no_bytes(s, url, "PurgeQueue")
    no_bytes(s, url, "DeleteQueue")


@CHAPTER.row("Actions on tags without output return no bytes", RECORDED, ONLY)
def _(s):
    url = s.queue()
    no_bytes(s, url, "TagQueue", Tags={"a": "b"})
    no_bytes(s, url, "UntagQueue", TagKeys=["a"])


@CHAPTER.row("Actions on permissions without output return no bytes", RECORDED, ONLY)
def _(s):
    url = s.queue()
    no_bytes(s, url, "AddPermission", **PERMISSION)
    no_bytes(s, url, "RemovePermission", Label="l")


@CHAPTER.row("Actions on messages without output return no bytes", RECORDED, ONLY)
def _(s):
    url = s.queue()
    s.send(url)
    handle = s.one(url)["ReceiptHandle"]
    no_bytes(s, url, "ChangeMessageVisibility", ReceiptHandle=handle, VisibilityTimeout=9)
    no_bytes(s, url, "DeleteMessage", ReceiptHandle=handle)


def empty_object(s, action, **members):
    response = s.wire.json(action, members)
    equal((action, response.status, response.text().strip()), (action, 200, "{}"))


@CHAPTER.row("An empty receive returns `{}`", RECORDED, ONLY)
def _(s):
    empty_object(s, "ReceiveMessage", QueueUrl=s.queue())


@CHAPTER.row("Empty lists of queues and tags return `{}`", RECORDED, ONLY)
def _(s):
    url = s.queue()
    empty_object(s, "ListQueues", QueueNamePrefix=s.new_name())
    empty_object(s, "ListDeadLetterSourceQueues", QueueUrl=url)
    empty_object(s, "ListQueueTags", QueueUrl=url)


@CHAPTER.row("GetQueueAttributes without names returns `{}`", DOCUMENTED, ONLY)
def _(s):
    empty_object(s, "GetQueueAttributes", QueueUrl=s.queue())


for body, present, absent in [("x", "Successful", "Failed"), ("\x01", "Failed", "Successful")]:

    @CHAPTER.row(f"A batch with an empty list {absent} omits it", RECORDED, ONLY)
    def _(s, body=body, present=present):
        entries = [{"Id": "a", "MessageBody": body}]
        equal(list(s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=entries)), [present])


@CHAPTER.row("The input tags and the output queueUrls have lower-case names", DOCUMENTED, ONLY)
def _(s):
    url = s.queue(tags={"a": "b"})
    equal(s.done("ListQueueTags", QueueUrl=url), {"Tags": {"a": "b"}})
    source, dead = s.with_dead_letters()
    equal(s.done("ListDeadLetterSourceQueues", QueueUrl=dead), {"queueUrls": [source]})


@CHAPTER.row("Binary values are base64, absent members are omitted", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    value = {"DataType": "Binary", "BinaryValue": "AQL+/w=="}
    s.send(url, MessageAttributes={"b": value})
    equal(s.one(url)["MessageAttributes"], {"b": value})
