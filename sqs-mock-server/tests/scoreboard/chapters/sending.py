"""What a message may contain: body, delay, size, system attributes."""

from codes import ANY, CONTENTS, MISSING, PARAMETER
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Sending")
BODY = {"MessageBody": "x"}


def on_a_queue(s):
    return {"QueueUrl": s.queue()}


def on_a_small_queue(s):
    return {"QueueUrl": s.queue(MaximumMessageSize="1024")}


def text(value, data_type="String"):
    return {"DataType": data_type, "StringValue": value}


def sending(title, evidence, members, code):
    return (title, evidence, "SendMessage", members, code)


CHAPTER.refusals(
    on_a_queue,
    sending("No body, or an empty one", RECORDED, [{}, {"MessageBody": ""}], MISSING),
    sending(
        "Characters that XML does not allow",
        RECORDED,
        [{"MessageBody": "a\x01"}, {"MessageBody": "a\ufffe"}],
        CONTENTS,
    ),
    sending("DelaySeconds -1 or 901", DOCUMENTED, [{**BODY, "DelaySeconds": delay} for delay in (-1, 901)], PARAMETER),
    sending("A body of 1,048,577 bytes", RECORDED, {"MessageBody": "x" * 1048577}, PARAMETER),
    sending("A deduplication id on a standard queue", RECORDED, {**BODY, "MessageDeduplicationId": "d"}, PARAMETER),
    sending("A message group id with a space", RECORDED, {**BODY, "MessageGroupId": "a b"}, PARAMETER),
    sending(
        "An unknown system attribute",
        DOCUMENTED,
        {**BODY, "MessageSystemAttributes": {"Other": text("x")}},
        ANY,
    ),
)
CHAPTER.refusals(
    on_a_small_queue,
    sending(
        "A body over the limit of the queue in bytes",
        RECORDED,
        [{"MessageBody": "x" * 1025}, {"MessageBody": "ü" * 513}],
        PARAMETER,
    ),
    sending(
        "A body over the limit with its attributes",
        RECORDED,
        {"MessageBody": "x" * 1015, "MessageAttributes": {"a": text("bcd")}},
        PARAMETER,
    ),
)


def survives(title, evidence, body):
    @CHAPTER.row(title, evidence)
    def _(s):
        url = s.queue()
        s.send(url, body)
        equal(s.one(url)["Body"], body)


survives("A body of one space is accepted", DOCUMENTED, " ")
survives("Tab, line feed and U+10FFFF are accepted", RECORDED, "\t\n\U0010ffff")
survives("A body of 1,048,576 bytes is accepted", RECORDED, "x" * 1048576)


@CHAPTER.row("A message of exactly the limit of the queue is accepted", RECORDED)
def _(s):
    url = s.queue(MaximumMessageSize="1024")
    s.send(url, "x" * 1014, MessageAttributes={"a": text("bcd")})


@CHAPTER.row("The trace header does not count for the size", RECORDED)
def _(s):
    trace = {"AWSTraceHeader": text("Root=1-5759e988-bd862e3fe1be46a994272793")}
    s.send(s.queue(MaximumMessageSize="1024"), "x" * 1024, MessageSystemAttributes=trace)


@CHAPTER.row("The trace header is a system attribute of the message", DOCUMENTED)
def _(s):
    url = s.queue()
    s.send(url, MessageSystemAttributes={"AWSTraceHeader": text("Root=1")})
    equal(s.one(url)["Attributes"].get("AWSTraceHeader"), "Root=1")


@CHAPTER.row("The header X-Amzn-Trace-Id sets the trace header", RECORDED)
def _(s):
    url = s.queue()
    members = {"QueueUrl": url, "MessageBody": "x"}
    equal(s.wire.json("SendMessage", members, **{"X-Amzn-Trace-Id": "Root=1"}).status, 200)
    equal(s.one(url)["Attributes"].get("AWSTraceHeader"), "Root=1")


@CHAPTER.row("A standard queue keeps the message group id", RECORDED)
def _(s):
    url = s.queue()
    assert "SequenceNumber" not in s.send(url, MessageGroupId="tenant")
    equal(s.one(url)["Attributes"].get("MessageGroupId"), "tenant")


@CHAPTER.row("A standard queue returns MessageId and MD5OfMessageBody alone", DOCUMENTED)
def _(s):
    equal(sorted(s.send(s.queue())), ["MD5OfMessageBody", "MessageId"])


@CHAPTER.row("A delayed message counts as delayed and is not received", DOCUMENTED)
def _(s):
    url = s.queue()
    s.send(url, DelaySeconds=60)
    equal(s.bodies(url), [])
    s.settles(url, (0, 0, 1))


@CHAPTER.row("A delayed message is received after its delay", DOCUMENTED)
def _(s):
    url = s.queue(DelaySeconds="60")
    s.send(url, DelaySeconds=1)
    equal(s.bodies(url), [])
    equal(s.one(url, WaitTimeSeconds=4)["Body"], "x")


@CHAPTER.row("DelaySeconds 0 of a message overrides the queue", DOCUMENTED)
def _(s):
    url = s.queue(DelaySeconds="60")
    s.send(url, DelaySeconds=0)
    equal(s.one(url)["Body"], "x")
