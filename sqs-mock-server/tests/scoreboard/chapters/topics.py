"""SNS: topics, and their messages in queues."""

import hashlib
import json
import re
import uuid

from codes import SNS_NOT_FOUND, SNS_PARAMETER, same
from rows import LOGGED, RECORDED, SNS, Chapter
from session import equal

CHAPTER = Chapter("SNS: topics and queues", (SNS,))
ENVELOPE = ["Type", "MessageId", "TopicArn", "Message", "Timestamp"]
SIGNED = ["SignatureVersion", "Signature", "SigningCertURL"]
NUMBER = {"attr1": {"DataType": "Number", "StringValue": "99.12"}}
# As AWS computes it for this attribute.
MD5_OF_NUMBER = "d302007e9aa062660afc85fd0a482472"


def string(value):
    return {"DataType": "String", "StringValue": value}


def is_uuid(text):
    return str(uuid.UUID(text)) == text


@CHAPTER.row("CreateTopic again returns the same ARN; other attributes and additional tags are refused", RECORDED)
def _(s):
    name = s.new_name()
    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]
    topic = s.topic(name, Attributes={"DisplayName": "d"}, Tags=tags)
    for members in [{}, {"Attributes": {"DisplayName": "d"}}, {"Tags": tags[:1]}]:
        equal(s.sns("CreateTopic", Name=name, **members)["TopicArn"], topic)
    for members in [{"Attributes": {"DisplayName": "e"}}, {"Tags": [{"Key": "c", "Value": "3"}]}]:
        s.sns_refused("CreateTopic", SNS_PARAMETER, Name=name, **members)


@CHAPTER.row("Refused: topic names with other characters, .fifo without FifoTopic, FifoTopic without .fifo", RECORDED)
def _(s):
    for name in ["a b", "a:b", "a" * 257, f"{s.new_name()}.fifo"]:
        s.sns_refused("CreateTopic", SNS_PARAMETER, Name=name)
    s.sns_refused("CreateTopic", SNS_PARAMETER, Name=s.new_name(), Attributes={"FifoTopic": "true"})


@CHAPTER.row("An unknown topic is NotFound, and its delete succeeds", RECORDED)
def _(s):
    topic = s.topic()
    s.sns("DeleteTopic", TopicArn=topic)
    s.sns("DeleteTopic", TopicArn=topic)
    s.sns_refused("GetTopicAttributes", SNS_NOT_FOUND, TopicArn=topic)
    s.sns_refused("Publish", SNS_NOT_FOUND, TopicArn=topic, Message="x")
    # The topic is checked before the endpoint.
    s.sns_refused("Subscribe", SNS_NOT_FOUND, TopicArn=topic, Protocol="sqs", Endpoint="x")


@CHAPTER.row("Subscribe again returns the same ARN; other attributes are refused", RECORDED)
def _(s):
    topic = s.topic()
    _, queue = s.open_queue()
    members = {"TopicArn": topic, "Protocol": "sqs", "Endpoint": queue}
    raw, plain = {"RawMessageDelivery": "true"}, {"RawMessageDelivery": "false"}
    arn = s.sns("Subscribe", **members, Attributes=raw)["SubscriptionArn"]
    start, _, last = arn.rpartition(":")
    assert start == topic and is_uuid(last), arn
    for more in [{}, {"Attributes": raw}]:
        equal(s.sns("Subscribe", **members, **more)["SubscriptionArn"], arn)
    s.sns_refused("Subscribe", SNS_PARAMETER, **members, Attributes=plain)


@CHAPTER.row("Refused: endpoint that is not a queue ARN, unknown protocol, FIFO queue on a standard topic", RECORDED)
def _(s):
    topic, fifo = s.topic(), s.fifo()
    for protocol, endpoint in [("sqs", s.queue()), ("sqs", "x"), ("soup", "x"), ("sqs", s.arn(fifo))]:
        s.sns_refused("Subscribe", SNS_PARAMETER, TopicArn=topic, Protocol=protocol, Endpoint=endpoint)


@CHAPTER.row("A queue gets an envelope with the id of Publish, the subject and the attributes", RECORDED)
def _(s):
    topic = s.topic()
    url = s.subscriber(topic)
    sent = s.publish(topic, "té", Subject="news", MessageAttributes=NUMBER)
    message = s.one(url, WaitTimeSeconds=5)
    assert "MessageAttributes" not in message, message
    envelope = json.loads(message["Body"])
    equal(set(envelope), {*ENVELOPE, *SIGNED, "Subject", "UnsubscribeURL", "MessageAttributes"})
    values = {"Type": "Notification", "MessageId": sent["MessageId"], "TopicArn": topic, "Message": "té"}
    values |= {"Subject": "news", "MessageAttributes": {"attr1": {"Type": "Number", "Value": "99.12"}}}
    equal({name: envelope[name] for name in values}, values)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", envelope["Timestamp"]), envelope["Timestamp"]


@CHAPTER.row("An envelope is indented JSON with its fields in a fixed order", LOGGED)
def _(s):
    topic = s.topic()
    url = s.subscriber(topic)
    s.publish(topic, Subject="news")
    body = s.one(url, WaitTimeSeconds=5)["Body"]
    lines = body.split("\n")
    equal((lines[0], lines[-1], lines[1]), ("{", "}", '  "Type" : "Notification",'))
    names = ["Type", "MessageId", "TopicArn", "Subject", "Message", "Timestamp", *SIGNED, "UnsubscribeURL"]
    equal([line.partition('" : ')[0] for line in lines[1:-1]], [f'  "{name}' for name in names])


@CHAPTER.row("Raw delivery sends only the message and its attributes", RECORDED)
def _(s):
    topic = s.topic()
    url = s.subscriber(topic, RawMessageDelivery="true")
    s.publish(topic, "té", Subject="news", MessageAttributes=NUMBER)
    message = s.one(url, WaitTimeSeconds=5)
    equal((message["Body"], message.get("MessageAttributes")), ("té", NUMBER))
    equal(message.get("MD5OfMessageAttributes"), MD5_OF_NUMBER)


def filtered(s, policy, messages, expected, **attributes):
    """Of the messages and their attributes, the expected ones must pass."""
    topic = s.topic()
    url = s.subscriber(topic, RawMessageDelivery="true", FilterPolicy=json.dumps(policy), **attributes)
    for body, values in messages:
        members = {"MessageAttributes": values} if values else {}
        s.publish(topic, body, **members)
    equal(sorted(message["Body"] for message in s.arriving(url, len(expected))), sorted(expected))


@CHAPTER.row("Filter policies select by attributes: strings, arrays, ranges of numbers, prefixes, absence", RECORDED)
def _(s):
    number = {"DataType": "Number", "StringValue": "99"}
    array = {"DataType": "String.Array", "StringValue": '["value1","value2"]'}
    policy = {
        "store": ["value1", {"prefix": "auto-"}],
        "price": [{"numeric": [">", 0, "<=", 100]}],
        "old": [{"exists": False}],
    }
    messages = [
        ("equal", {"store": string("value1"), "price": number}),
        ("array", {"store": array, "price": number}),
        ("prefix", {"store": string("auto-1"), "price": number}),
        ("other", {"store": string("value2"), "price": number}),
        ("absent", {"store": string("value1")}),
        ("range", {"store": string("value1"), "price": {**number, "StringValue": "111"}}),
        ("exists", {"store": string("value1"), "price": number, "old": string("x")}),
        ("none", {}),
    ]
    filtered(s, policy, messages, ["equal", "array", "prefix"])


@CHAPTER.row("Filter policies select by the body: nested keys, arrays, $or", RECORDED)
def _(s):
    policy = {
        "object": {"key": [{"prefix": "auto-"}, "value"]},
        "$or": [{"source": ["a"]}, {"list": {"type": ["b"]}}],
    }
    passing = [
        '{"object":{"key":"auto-1"},"source":"a"}',
        '{"object":{"key":["x","value"]},"list":[{"type":"c"},{"type":"b"}]}',
    ]
    others = ['{"object":{"key":"other"},"source":"a"}', '{"object":{"key":"value"},"source":"c"}', "auto-1", '"value"']
    messages = [(body, {}) for body in [*others, *passing]]
    filtered(s, policy, messages, passing, FilterPolicyScope="MessageBody")


@CHAPTER.row("FIFO topics drop duplicates by content or id; the queue gets the deduplication id", RECORDED)
def _(s):
    topic = s.fifo_topic(ContentBasedDeduplication="true")
    url, arn = s.open_queue(fifo=True)
    s.subscribe(topic, "sqs", arn, RawMessageDelivery="true")
    s.publish(topic, "Test", MessageGroupId="g")
    s.publish(topic, "Test", MessageGroupId="g")
    # The scope is the topic, not the group.
    s.publish(topic, "Test", MessageGroupId="h")
    for body in ["one", "two"]:
        s.publish(topic, body, MessageGroupId="k", MessageDeduplicationId="id")
    found = {message["Body"]: message["Attributes"] for message in s.arriving(url, 2)}
    ids = {body: attributes["MessageDeduplicationId"] for body, attributes in found.items()}
    equal(ids, {"Test": hashlib.sha256(b"Test").hexdigest(), "one": "id"})
    equal({body: attributes["MessageGroupId"] for body, attributes in found.items()}, {"Test": "g", "one": "k"})


@CHAPTER.row("A message for a deleted queue goes to the dead-letter queue of the subscription", RECORDED)
def _(s):
    topic = s.topic()
    dead, target = s.open_queue()
    gone = s.queue()
    redrive = json.dumps({"deadLetterTargetArn": target})
    s.subscribe(topic, "sqs", s.arn(gone), RedrivePolicy=redrive)
    s.done("DeleteQueue", QueueUrl=gone)
    sent = s.publish(topic, MessageAttributes=NUMBER)
    message = s.one(dead, WaitTimeSeconds=5)
    assert "MessageAttributes" not in message, message
    envelope = json.loads(message["Body"])
    equal((envelope["MessageId"], envelope["Message"]), (sent["MessageId"], "x"))


@CHAPTER.row("Refused: confirmation with an unknown token", RECORDED)
def _(s):
    s.sns_refused("ConfirmSubscription", SNS_PARAMETER, TopicArn=s.topic(), Token="5" * 288)


@CHAPTER.row("PublishBatch publishes its entries; repeated ids and more than ten entries are refused", RECORDED)
def _(s):
    topic = s.topic()
    url = s.subscriber(topic, RawMessageDelivery="true")
    entries = [{"Id": f"i{number}", "Message": f"m{number}"} for number in range(11)]
    output = s.sns("PublishBatch", TopicArn=topic, PublishBatchRequestEntries=entries[:2])
    equal([entry["Id"] for entry in output["Successful"]], ["i0", "i1"])
    equal(output.get("Failed"), "")
    equal(sorted(message["Body"] for message in s.arriving(url, 2)), ["m0", "m1"])
    for refused, code in [
        (entries[:1] * 2, same("BatchEntryIdsNotDistinct")),
        (entries, same("TooManyEntriesInBatchRequest")),
    ]:
        s.sns_refused("PublishBatch", code, TopicArn=topic, PublishBatchRequestEntries=refused)
