"""Requests of the Query protocol as bytes."""

from chapters.query_forms import accepted, form, path_of
from codes import EMPTY_BATCH, MALFORMED, MISSING
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter
from session import equal, shortened
from wire import QUERY, refusal_in_xml

CHAPTER = Chapter("Query: requests")
ONLY = (QUERY,)


def sends(title, evidence):
    """Declares a request that must send the message "a b&c"."""

    def declare(request):
        @CHAPTER.row(title, evidence, ONLY)
        def _(s):
            url = s.queue()
            accepted(request(s.wire, url))
            equal(s.one(url)["Body"], "a b&c")

    return declare


@sends("POST to / with the queue in the form", DOCUMENTED)
def _(wire, url):
    return wire.form(form("SendMessage", url, MessageBody="a b&c"))


@sends("POST to the path of the queue", DOCUMENTED)
def _(wire, url):
    return wire.form(form("SendMessage", MessageBody="a b&c"), path=path_of(url))


@sends("GET of the queue URL with the form in the query string", DOCUMENTED)
def _(wire, url):
    return wire.get(f"{path_of(url)}?{form('SendMessage', MessageBody='a b&c')}")


@sends("GET of the queue URL without Version", RECORDED)
def _(wire, url):
    return wire.get(f"{path_of(url)}?Action=SendMessage&MessageBody=a+b%26c")


@sends("Spaces are plus signs or %20", DOCUMENTED)
def _(wire, url):
    return wire.form(f"{form('SendMessage', url)}&MessageBody=a%20b%26c")


@sends("The parameter QueueUrl wins over the path", RECORDED)
def _(wire, url):
    return wire.form(form("SendMessage", url, MessageBody="a b&c"), path=path_of(url) + "-not")


@CHAPTER.row("Attribute.N.Name and Attribute.N.Value set attributes", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    fields = {"Attribute.1.Name": "DelaySeconds", "Attribute.1.Value": "7"}
    more = {"Attribute.2.Name": "VisibilityTimeout", "Attribute.2.Value": "8"}
    accepted(s.wire.form(form("SetQueueAttributes", url, **fields, **more)))
    shown = s.attributes(url)
    equal((shown["DelaySeconds"], shown["VisibilityTimeout"]), ("7", "8"))


@CHAPTER.row("Tag.N.Key, Tag.N.Value and TagKey.N set and remove tags", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    tags = {"Tag.1.Key": "a", "Tag.1.Value": "1", "Tag.2.Key": "b", "Tag.2.Value": "2"}
    accepted(s.wire.form(form("TagQueue", url, **tags)))
    accepted(s.wire.form(form("UntagQueue", url, **{"TagKey.1": "a"})))
    equal(s.done("ListQueueTags", QueueUrl=url), {"Tags": {"b": "2"}})


@CHAPTER.row("AttributeName.N selects attributes of a queue", DOCUMENTED, ONLY)
def _(s):
    names = {"AttributeName.1": "DelaySeconds", "AttributeName.2": "VisibilityTimeout"}
    document = accepted(s.wire.form(form("GetQueueAttributes", s.queue(), **names))).xml()
    expected = {"DelaySeconds": "0", "VisibilityTimeout": "30"}
    equal(document.output("GetQueueAttributes"), {"Attributes": expected})


@CHAPTER.row("AWSAccountId.N and ActionName.N add a permission", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    fields = {"Label": "l", "AWSAccountId.1": "123456789012", "ActionName.1": "SendMessage"}
    accepted(s.wire.form(form("AddPermission", url, **fields)))
    assert "SendMessage" in s.attributes(url)["Policy"]


ENTRY = "SendMessageBatchRequestEntry.1"
ATTRIBUTES = {
    "MessageAttribute.1.Name": "s",
    "MessageAttribute.1.Value.DataType": "String",
    "MessageAttribute.1.Value.StringValue": "t",
    "MessageAttribute.2.Name": "b",
    "MessageAttribute.2.Value.DataType": "Binary",
    "MessageAttribute.2.Value.BinaryValue": "AQI=",
}
SHOWN = {"s": {"DataType": "String", "StringValue": "t"}, "b": {"DataType": "Binary", "BinaryValue": "AQI="}}


@CHAPTER.row("MessageAttribute.N has attributes of a message", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    accepted(s.wire.form(form("SendMessage", url, MessageBody="x", **ATTRIBUTES)))
    equal(s.one(url).get("MessageAttributes"), SHOWN)


@CHAPTER.row("SendMessageBatchRequestEntry.N has an entry with attributes", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    fields = {f"{ENTRY}.{name}": value for name, value in {"Id": "i", "MessageBody": "x", **ATTRIBUTES}.items()}
    accepted(s.wire.form(form("SendMessageBatch", url, **fields)))
    equal(s.one(url).get("MessageAttributes"), SHOWN)


@CHAPTER.row("MessageSystemAttribute.N has the trace header", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    start = "MessageSystemAttribute.1"
    fields = {"Name": "AWSTraceHeader", "Value.DataType": "String", "Value.StringValue": "Root=1"}
    more = {f"{start}.{name}": value for name, value in fields.items()}
    accepted(s.wire.form(form("SendMessage", url, MessageBody="x", **more)))
    equal(s.one(url)["Attributes"].get("AWSTraceHeader"), "Root=1")


def batch_of_handles(action, more):
    @CHAPTER.row(f"{action}RequestEntry.N has an entry", DOCUMENTED, ONLY)
    def _(s):
        url = s.queue()
        s.send(url)
        fields = {"Id": "i", "ReceiptHandle": s.one(url)["ReceiptHandle"], **more}
        entry = {f"{action}RequestEntry.1.{name}": value for name, value in fields.items()}
        output = accepted(s.wire.form(form(action, url, **entry))).xml().output(action)
        equal(output, {"Successful": [{"Id": "i"}]})


batch_of_handles("DeleteMessageBatch", {})
batch_of_handles("ChangeMessageVisibilityBatch", {"VisibilityTimeout": "9"})


def refused(title, evidence, code, request):
    @CHAPTER.row(title, evidence, ONLY)
    def _(s):
        refusal = refusal_in_xml(s.wire.form(request(s.queue())))
        assert refusal.means(code), shortened(refusal)


refused(
    "A list in a wrong encoding is MalformedInput",
    LOGGED,
    MALFORMED,
    lambda url: form("SendMessageBatch", url, SendMessageBatchRequestEntry="x"),
)
refused(
    "A batch without entries is EmptyBatchRequest", LOGGED, EMPTY_BATCH, lambda url: form("DeleteMessageBatch", url)
)
refused(
    "A batch with an empty list is MissingParameter",
    LOGGED,
    MISSING,
    lambda url: form("DeleteMessageBatch", url, DeleteMessageBatchRequestEntry=""),
)
