"""MD5 checksums, against values that AWS returned or that the documented rules give."""

from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("MD5 checksums")
BODY = '{"order":"№ 42 – žluťoučký","n":1}'
TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


def value(text, data_type="String"):
    member = "BinaryValue" if data_type.startswith("Binary") else "StringValue"
    return {"DataType": data_type, member: text}


for what, body, md5, evidence in [
    ("hello", "hello", "5d41402abc4b2a76b9719d911017c592", RECORDED),
    ("a body in UTF-8", BODY, "867cba32b4c0bedcd58fba5fd5af65fa", DOCUMENTED),
]:

    @CHAPTER.row(f"MD5 of {what}, sent and received", evidence)
    def _(s, body=body, md5=md5):
        url = s.queue()
        equal(s.send(url, body)["MD5OfMessageBody"], md5)
        equal(s.one(url)["MD5OfBody"], md5)


KENOBI = {"General": value("Kenobi"), "Hello": value("There"), "Help.Me": value("Me")}
for what, attributes, md5, evidence in [
    ("one attribute", {"k": value("x")}, "a45daa70926828a2f0a1db3418e6feb4", RECORDED),
    (
        "a string, a number and bytes",
        {"color": value("blue"), "count": value("3", "Number"), "blob": value("AQID", "Binary")},
        "d838729972a4b70e2d2acd9d59ac847c",
        RECORDED,
    ),
    (
        "labels, upper and lower case, and UTF-8",
        {"Zeta": value("42", "Number.int"), "alpha": value("AAEC/w==", "Binary.png"), "City": value("Zürich €")},
        "295ef2840065c084ed61b3ffef1ef9fd",
        DOCUMENTED,
    ),
    ("a number", {"timestamp": value("1493147359900", "Number")}, "235c5c510d26fb653d073faed50ae77c", DOCUMENTED),
    ("three strings", KENOBI, "4c360f3fdafd970e05fae2f149d997f5", DOCUMENTED),
]:

    @CHAPTER.row(f"MD5 of {what} in attributes, sent and received", evidence)
    def _(s, attributes=attributes, md5=md5):
        url = s.queue()
        equal(s.send(url, MessageAttributes=attributes).get("MD5OfMessageAttributes"), md5)
        equal(s.one(url).get("MD5OfMessageAttributes"), md5)


@CHAPTER.row("MD5 of attributes in a batch", DOCUMENTED)
def _(s):
    entries = [{"Id": "a", "MessageBody": "x", "MessageAttributes": {"k": value("x")}}]
    output = s.done("SendMessageBatch", QueueUrl=s.queue(), Entries=entries)
    equal(output["Successful"][0].get("MD5OfMessageAttributes"), "a45daa70926828a2f0a1db3418e6feb4")


for names, md5, evidence in [
    (["General", "Hello"], "fca026605781cb4126a1e9044df24232", RECORDED),
    (["General", "Hel.*"], "4c360f3fdafd970e05fae2f149d997f5", RECORDED),
]:

    @CHAPTER.row(f"MD5 of the returned attributes alone: {', '.join(names)}", evidence)
    def _(s, names=names, md5=md5):
        url = s.queue()
        s.send(url, MessageAttributes=KENOBI)
        equal(s.one(url, MessageAttributeNames=names).get("MD5OfMessageAttributes"), md5)


@CHAPTER.row("MD5 of the trace header, apart from that of attributes", RECORDED)
def _(s):
    url = s.queue()
    system = {"AWSTraceHeader": value(TRACE)}
    sent = s.send(url, MessageSystemAttributes=system)
    equal(sent.get("MD5OfMessageSystemAttributes"), "5ae4d5d7636402d80f4eb6d213245a88")
    assert "MD5OfMessageAttributes" not in sent
    sent = s.send(url, MessageSystemAttributes=system, MessageAttributes={"k": value("x")})
    equal(sent.get("MD5OfMessageAttributes"), "a45daa70926828a2f0a1db3418e6feb4")
