"""AWS JSON as bytes: errors."""

from chapters.json_responses import UUID
from codes import BAD_HANDLE, EMPTY_BATCH, MALFORMED, NO_QUEUE, PARAMETER, PURGE_IN_PROGRESS, QUEUE_EXISTS
from rows import RECORDED, Chapter
from session import equal, shortened
from wire import JSON, refusal_in_json

CHAPTER = Chapter("AWS JSON: errors")
ONLY = (JSON,)
NOWHERE = {"QueueUrl": "http://localhost/000000000000/no-such-queue"}
QUERY_MODE = {"x-amzn-query-mode": "true"}


def error(title):
    """Declares a check of the response to a request on a queue that does not exist."""

    def declare(check):
        @CHAPTER.row(title, RECORDED, ONLY)
        def _(s):
            check(s.wire.json("PurgeQueue", NOWHERE, **QUERY_MODE))

    return declare


@error("The type of a modelled error is a shape of com.amazonaws.sqs")
def _(response):
    equal(response.json()["__type"], "com.amazonaws.sqs#QueueDoesNotExist")


@error("An error has the lower-case member message")
def _(response):
    equal(sorted(response.json()), ["__type", "message"])


@error("The text about an unknown queue does not name a WSDL version")
def _(response):
    equal(refusal_in_json(response).message, "The specified queue does not exist.")


@error("An error has a UUID in x-amzn-RequestId")
def _(response):
    assert UUID.fullmatch(response.headers.get("x-amzn-requestid", "")), response.headers


@CHAPTER.row("The type of a generic error is a shape of com.amazon.coral.service", RECORDED, ONLY)
def _(s):
    response = s.wire.json("ReceiveMessage", {"QueueUrl": s.queue(), "MaxNumberOfMessages": 11})
    equal(response.json()["__type"], "com.amazon.coral.service#InvalidParameterValueException")


def in_header(code, provoke):
    @CHAPTER.row(f"The header x-amzn-query-error has the code {code.query}", RECORDED, ONLY)
    def _(s):
        action, members = provoke(s)
        response = s.wire.json(action, members, **QUERY_MODE)
        equal(response.headers.get("x-amzn-query-error"), f"{code.query};Sender")


def purged(s):
    url = s.queue()
    s.done("PurgeQueue", QueueUrl=url)
    return "PurgeQueue", {"QueueUrl": url}


def taken(s):
    name = s.new_name()
    s.queue(name)
    return "CreateQueue", {"QueueName": name, "Attributes": {"DelaySeconds": "7"}}


in_header(NO_QUEUE, lambda s: ("PurgeQueue", NOWHERE))
in_header(PARAMETER, lambda s: ("ReceiveMessage", {"QueueUrl": s.queue(), "MaxNumberOfMessages": 11}))
in_header(BAD_HANDLE, lambda s: ("DeleteMessage", {"QueueUrl": s.queue(), "ReceiptHandle": "x"}))
in_header(EMPTY_BATCH, lambda s: ("SendMessageBatch", {"QueueUrl": s.queue(), "Entries": []}))
in_header(PURGE_IN_PROGRESS, purged)
in_header(QUEUE_EXISTS, taken)

for title, action, *bodies in [
    ("A request that is not JSON", "SendMessage", "{"),
    ("A request that is no object", "SendMessage", "[]", '"x"'),
    ("A number or an object for a string", "SendMessage", '{"MessageBody":1}', '{"MessageBody":{}}'),
    ("A list for a map", "SendMessage", '{"QueueUrl":"q","MessageBody":"x","MessageAttributes":["a"]}'),
    ("A string for a list", "ReceiveMessage", '{"QueueUrl":"q","AttributeNames":"All"}'),
]:

    @CHAPTER.row(f"{title} is a SerializationException", RECORDED, ONLY)
    def _(s, action=action, bodies=bodies):
        for body in bodies:
            refusal = refusal_in_json(s.wire.json(action, body))
            assert refusal.means(MALFORMED), f"{body}: {shortened(refusal)}"


@CHAPTER.row("An unknown action or target is an UnknownOperationException without a message", RECORDED, ONLY)
def _(s):
    for target in ["AmazonSQS.MakeCoffee", "AmazonSQS."]:
        response = s.wire.json("", "{}", **{"X-Amz-Target": target})
        expected = (400, {"__type": "com.amazon.coral.service#UnknownOperationException"})
        equal((response.status, response.json()), expected)
