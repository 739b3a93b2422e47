"""GET of queue URLs, and responses in JSON on request."""

from urllib.parse import quote

from chapters.query_forms import accepted, path_of
from codes import ACTION, NO_QUEUE
from rows import RECORDED, Chapter
from session import equal, shortened
from wire import QUERY, refusal_in_xml

CHAPTER = Chapter("Query: GET and content negotiation")
ONLY = (QUERY,)


@CHAPTER.row("GET of a queue URL without Action is 404 with UnknownOperationException", RECORDED, ONLY)
def _(s):
    response = s.wire.get(path_of(s.queue()))
    equal((response.status, response.text().strip()), (404, "<UnknownOperationException/>"))


def invalid(response):
    refusal = refusal_in_xml(response)
    assert refusal.means(ACTION), shortened(refusal)
    return refusal


@CHAPTER.row("An unknown action is InvalidAction, at / and at a queue URL", RECORDED, ONLY)
def _(s):
    for path in ["/", path_of(s.queue())]:
        invalid(s.wire.get(f"{path}?Action=MakeCoffee"))


@CHAPTER.row("ListQueues and CreateQueue at a queue URL are InvalidAction", RECORDED, ONLY)
def _(s):
    for action in ["ListQueues", "CreateQueue"]:
        invalid(s.wire.get(f"{path_of(s.queue())}?Action={action}&QueueName={s.new_name()}"))


@CHAPTER.row("The text of InvalidAction names the action", RECORDED, ONLY)
def _(s):
    refusal = invalid(s.wire.get("/?Action=MakeCoffee"))
    equal(refusal.message, "The action MakeCoffee is not valid for this endpoint.")


@CHAPTER.row("GetQueueUrl by GET of a queue URL finds any queue", RECORDED, ONLY)
def _(s):
    name = s.new_name()
    other, url = s.queue(), s.queue(name)
    document = accepted(s.wire.get(f"{path_of(other)}?Action=GetQueueUrl&QueueName={name}")).xml()
    equal(document.output("GetQueueUrl"), {"QueueUrl": url})


def as_json(s, path):
    response = s.wire.get(path, Accept="application/json")
    equal(response.headers.get("content-type", "").partition(";")[0], "application/json")
    return response.json()


@CHAPTER.row("Accept: application/json gets lists in JSON", RECORDED, ONLY)
def _(s):
    name = s.new_name()
    url = s.queue(name)
    found = as_json(s, f"/?Action=ListQueues&QueueNamePrefix={quote(name)}")
    equal(found["ListQueuesResponse"]["ListQueuesResult"], {"queueUrls": [url]})


@CHAPTER.row("Accept: application/json gets attributes in JSON", RECORDED, ONLY)
def _(s):
    found = as_json(s, f"{path_of(s.queue())}?Action=GetQueueAttributes&AttributeName.1=DelaySeconds")
    result = found["GetQueueAttributesResponse"]["GetQueueAttributesResult"]
    equal(result["Attributes"], [{"Name": "DelaySeconds", "Value": "0"}])


@CHAPTER.row("Accept: application/json gets messages in JSON", RECORDED, ONLY)
def _(s):
    url = s.queue()
    s.send(url)
    found = as_json(s, f"{path_of(url)}?Action=ReceiveMessage&WaitTimeSeconds=2")
    equal(found["ReceiveMessageResponse"]["ReceiveMessageResult"]["messages"][0]["Body"], "x")


@CHAPTER.row("Accept: application/json gets errors in JSON", RECORDED, ONLY)
def _(s):
    found = as_json(s, f"{path_of(s.queue())}-not?Action=PurgeQueue")
    equal(found["Error"]["Code"], NO_QUEUE.query)
    assert found["RequestId"]
