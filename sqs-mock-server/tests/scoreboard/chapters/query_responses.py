"""Documents of the Query protocol."""

from chapters.query_forms import accepted, form
from codes import NO_QUEUE
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal
from wire import QUERY, refusal_in_xml

CHAPTER = Chapter("Query: responses")
ONLY = (QUERY,)
NAMESPACE = "http://queue.amazonaws.com/doc/2012-11-05/"
ENTRY = "SendMessageBatchRequestEntry.1"


@CHAPTER.row("The content type is text/xml", RECORDED, ONLY)
def _(s):
    equal(accepted(s.wire.form(form("ListQueues"))).headers.get("content-type", "").partition(";")[0], "text/xml")


@CHAPTER.row("A document has the namespace of SQS", DOCUMENTED, ONLY)
def _(s):
    equal(accepted(s.wire.form(form("ListQueues"))).xml().namespace, NAMESPACE)


@CHAPTER.row("A document ends with ResponseMetadata and RequestId", DOCUMENTED, ONLY)
def _(s):
    root = accepted(s.wire.form(form("ListQueues"))).xml().root
    equal((root.tag, [child.tag for child in root]), ("ListQueuesResponse", ["ListQueuesResult", "ResponseMetadata"]))
    assert root.findtext("ResponseMetadata/RequestId")


@CHAPTER.row("An action without output has no result element", DOCUMENTED, ONLY)
def _(s):
    fields = {"Tag.1.Key": "a", "Tag.1.Value": "b"}
    root = accepted(s.wire.form(form("TagQueue", s.queue(), **fields))).xml().root
    equal((root.tag, [child.tag for child in root]), ("TagQueueResponse", ["ResponseMetadata"]))


@CHAPTER.row("An empty receive has an empty result element", DOCUMENTED, ONLY)
def _(s):
    root = accepted(s.wire.form(form("ReceiveMessage", s.queue()))).xml().root
    result = root.find("ReceiveMessageResult")
    assert result is not None and not len(result), [child.tag for child in root]


def elements(action, document, *names):
    return [child.tag for child in document.path(f"{action}Result", *names)]


@CHAPTER.row("Messages and their attributes are flat lists", DOCUMENTED, ONLY)
def _(s):
    url = s.queue()
    s.send(url, "one", MessageAttributes={"a": {"DataType": "String", "StringValue": "b"}})
    names = {"AttributeName.1": "SenderId", "MessageAttributeName.1": "All", "WaitTimeSeconds": "2"}
    document = accepted(s.wire.form(form("ReceiveMessage", url, **names))).xml()
    equal(elements("ReceiveMessage", document), ["Message"])
    expected = ["Attribute", "Body", "MD5OfBody", "MD5OfMessageAttributes"]
    expected += ["MessageAttribute", "MessageId", "ReceiptHandle"]
    equal(sorted(elements("ReceiveMessage", document, "Message")), expected)


@CHAPTER.row("Entries of a batch have the element SendMessageBatchResultEntry", DOCUMENTED, ONLY)
def _(s):
    entries = [{"Id": "a", "MessageBody": "x"}, {"Id": "b", "MessageBody": "\x01"}]
    output = s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=entries)
    equal([entry["Id"] for entry in output["Successful"]], ["a"])


@CHAPTER.row("Failed entries of a batch have the element BatchResultErrorEntry", DOCUMENTED, ONLY)
def _(s):
    fields = {f"{ENTRY}.Id": "a", f"{ENTRY}.MessageBody": "\x01"}
    document = accepted(s.wire.form(form("SendMessageBatch", s.queue(), **fields))).xml()
    found = elements("SendMessageBatch", document, "BatchResultErrorEntry")
    equal(sorted(found), ["Code", "Id", "Message", "SenderFault"])


@CHAPTER.row("A double quote in a body is &quot;", RECORDED, ONLY)
def _(s):
    url = s.queue()
    s.send(url, '"')
    text = accepted(s.wire.form(form("ReceiveMessage", url, WaitTimeSeconds=2))).text()
    assert "<Body>&quot;</Body>" in text, text


@CHAPTER.row("A carriage return in a body is &#xD;", RECORDED, ONLY)
def _(s):
    url = s.queue()
    s.send(url, "a\rb")
    text = accepted(s.wire.form(form("ReceiveMessage", url, WaitTimeSeconds=2))).text()
    assert "<Body>a&#xD;b</Body>" in text.replace("&#xd;", "&#xD;").replace("&#13;", "&#xD;"), text


for what, body in [("spaces", "  "), ("markup and umlauts", "<a b='ü'>&amp;]]></a>"), ("line breaks", "a\r\nb\tc\n")]:

    @CHAPTER.row(f"A body of {what} survives", RECORDED if body[0] == "a" else DOCUMENTED, ONLY)
    def _(s, body=body):
        url = s.queue()
        s.send(url, body)
        equal(s.one(url)["Body"], body)


def nowhere(s):
    return s.wire.form(form("PurgeQueue", "http://localhost/000000000000/no-such-queue"))


@CHAPTER.row("An error is an ErrorResponse in the namespace of SQS", DOCUMENTED, ONLY)
def _(s):
    document = nowhere(s).xml()
    equal((document.root.tag, document.namespace), ("ErrorResponse", NAMESPACE))


@CHAPTER.row("An error has Type, Code, Message and Detail, and then RequestId", DOCUMENTED, ONLY)
def _(s):
    root = nowhere(s).xml().root
    equal([child.tag for child in root], ["Error", "RequestId"])
    equal(sorted(child.tag for child in root[0]), ["Code", "Detail", "Message", "Type"])
    equal((root.findtext("Error/Type"), root.findtext("Error/Code")), ("Sender", NO_QUEUE.query))


@CHAPTER.row("The text about an unknown queue names the WSDL version", RECORDED, ONLY)
def _(s):
    expected = "The specified queue does not exist for this wsdl version."
    equal(refusal_in_xml(nowhere(s)).message, expected)
