"""Attributes of messages: names, types and values."""

from codes import ANY, PARAMETER, UNSUPPORTED
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Message attributes")


def text(value, data_type="String"):
    return {"DataType": data_type, "StringValue": value}


def attributes(title, evidence, *cases, code=PARAMETER):
    return (title, evidence, "SendMessage", [{"MessageAttributes": case} for case in cases], code)


CHAPTER.refusals(
    lambda s: {"QueueUrl": s.queue(), "MessageBody": "x"},
    attributes("Eleven attributes", DOCUMENTED, {f"a{number}": text("x") for number in range(11)}),
    attributes("A name that starts with AWS. or aMAZON.", DOCUMENTED, {"AWS.x": text("x")}, {"aMAZON.x": text("x")}),
    attributes("A name that starts or ends with a period", DOCUMENTED, {".a": text("x")}, {"a.": text("x")}),
    attributes("A name with a space", DOCUMENTED, {"a b": text("x")}),
    attributes("A name of 257 characters", DOCUMENTED, {"n" * 257: text("x")}),
    (
        *attributes("An empty string value", RECORDED, {"X": text("")}),
        "Message (user) attribute 'X' must contain a non-empty value of type 'String'.",
        RECORDED,
    ),
    attributes("The character U+0001 in a value", RECORDED, {"X": text("\x01")}),
    attributes("The types string and Text", DOCUMENTED, {"X": text("x", "string")}, {"X": text("x", "Text")}),
    attributes("A type of 257 characters", DOCUMENTED, {"X": text("x", "String." + "l" * 250)}),
    attributes("No type", DOCUMENTED, {"X": {"StringValue": "x"}}, code=ANY),
    attributes("A Number that is no number", DOCUMENTED, {"X": text("x", "Number")}),
    attributes(
        "A Number of 39 digits, or over 1E+126",
        DOCUMENTED,
        {"X": text("1" * 39, "Number")},
        {"X": text("1e127", "Number")},
        code=ANY,
    ),
    attributes(
        "Lists of values",
        RECORDED,
        {"X": {"DataType": "String", "StringListValues": ["a"]}},
        {"X": {"DataType": "Binary", "BinaryListValues": ["AA=="]}},
        code=UNSUPPORTED,
    ),
)


def kept(title, evidence, attributes):
    @CHAPTER.row(title, evidence)
    def _(s):
        url = s.queue()
        s.send(url, MessageAttributes=attributes)
        equal(s.one(url).get("MessageAttributes"), attributes)


kept("Ten attributes are accepted", DOCUMENTED, {f"a{number}": text("x") for number in range(10)})
kept("Names are case-sensitive", DOCUMENTED, {"a": text("1"), "A": text("2")})
kept("A name of 256 characters is accepted", DOCUMENTED, {"n" * 256: text("x")})
kept("A name with umlauts is accepted", RECORDED, {"Größe": text("x")})
kept("A type can have a label", DOCUMENTED, {"X": text("{}", "String.json")})
kept("A number is returned unchanged", DOCUMENTED, {"X": text("+007.50e3", "Number")})
kept("A number of 38 digits is accepted", DOCUMENTED, {"X": text("1" * 38, "Number")})
kept("Bytes are returned unchanged", DOCUMENTED, {"X": {"DataType": "Binary.png", "BinaryValue": "AAEC/w=="}})
