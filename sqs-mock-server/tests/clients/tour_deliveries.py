"""Tests what topics deliver to queues with boto3: `tour_deliveries.py ENDPOINT`."""

import base64
import json
import re

import boto3
from sns_message_validator import SNSMessageValidator, SignatureVerificationFailureException

from checks import equal, only, rejected
from checksums import of_attributes
from clients import ENDPOINT, Queue, invalid, sns, subscribe, topic

BODY = '{"order":"№ 42 – žluťoučký","n":1}\r\n\t<end/>'
ATTRIBUTES = {
    "text": {"DataType": "String.note", "StringValue": 'Zürich <&> "€"'},
    "number": {"DataType": "Number", "StringValue": "-1.50e3"},
    "list": {"DataType": "String.Array", "StringValue": '["a", 1, null]'},
    "bytes": {"DataType": "Binary.png", "BinaryValue": bytes([0, 1, 2, 254, 255])},
}
SIGNATURE = ["SignatureVersion", "Signature", "SigningCertURL"]
RAW = {"RawMessageDelivery": "true"}


def envelope_and_raw_message_have_all_that_was_published():
    arn, enveloped, raw = topic("deliveries"), Queue("enveloped"), Queue("raw")
    subscribe(arn, enveloped.arn)
    subscribe(arn, raw.arn, **RAW)
    published = sns.publish(TopicArn=arn, Message=BODY, Subject="tea & more", MessageAttributes=ATTRIBUTES)
    message = only(enveloped.receive())
    assert "MessageAttributes" not in message, message
    envelope = json.loads(message["Body"])
    fields = ["Type", "MessageId", "TopicArn", "Subject", "Message", "Timestamp", *SIGNATURE, "UnsubscribeURL"]
    equal(list(envelope), [*fields, "MessageAttributes"])
    equal([envelope[name] for name in fields[:5]], ["Notification", published["MessageId"], arn, "tea & more", BODY])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", envelope["Timestamp"]), envelope
    values = {name: value.get("StringValue") for name, value in ATTRIBUTES.items()}
    values["bytes"] = base64.b64encode(ATTRIBUTES["bytes"]["BinaryValue"]).decode()
    types = {name: value["DataType"] for name, value in ATTRIBUTES.items()}
    equal(envelope["MessageAttributes"], {name: {"Type": types[name], "Value": values[name]} for name in types})
    message = only(raw.receive())
    equal((message["Body"], message["MessageAttributes"]), (BODY, ATTRIBUTES))
    equal(message["MD5OfMessageAttributes"], of_attributes(ATTRIBUTES))


def signature_is_verified_with_the_certificate_of_the_server():
    arn, queue = topic("signed"), Queue("signed")
    subscribe(arn, queue.arn)
    sns.publish(TopicArn=arn, Message=BODY, Subject="tea")
    sns.publish(TopicArn=arn, Message=BODY)
    validator = SNSMessageValidator(cert_url_regex=f"^{re.escape(ENDPOINT)}/")
    for envelope in map(json.loads, queue.bodies()):
        validator.validate_message(envelope)
        try:
            validator.validate_message({**envelope, "Message": "other"})
        except SignatureVerificationFailureException:
            continue
        raise AssertionError("a changed message was accepted")


def message_structure_has_a_text_for_queues():
    arn, queue = topic("structure"), Queue("structure")
    subscribe(arn, queue.arn, **RAW)
    structured = {"TopicArn": arn, "MessageStructure": "json"}
    sns.publish(Message='{"default": "for others", "sqs": "for queues"}', **structured)
    sns.publish(Message='{"default": "for all"}', **structured)
    equal(queue.bodies(), ["for queues", "for all"])
    text = "Message Structure - No default entry in JSON message body"
    invalid(text, sns.publish, Message='{"sqs": "x"}', **structured)


def filter_policies_select_by_attributes_and_by_body():
    arn, every, cheap, tea = topic("filtered"), Queue("every"), Queue("cheap"), Queue("tea")
    subscribe(arn, every.arn, **RAW)
    subscribe(arn, cheap.arn, FilterPolicy={"price": [{"numeric": ["<", 5]}], "sold": [{"exists": False}]}, **RAW)
    by_body = {"FilterPolicyScope": "MessageBody", "FilterPolicy": {"order": {"kind": [{"prefix": "te"}]}}}
    subscription = subscribe(arn, tea.arn, **by_body, **RAW)
    bodies = [json.dumps({"order": {"kind": kind}}) for kind in ("tea", "coffee", "water")]
    prices = [{"price": {"DataType": "Number", "StringValue": text}} for text in ("3", "4.50", "9")]
    entries = [
        {"Id": str(at), "Message": bodies[at], "MessageAttributes": price} for at, price in enumerate(prices)
    ]
    published = sns.publish_batch(TopicArn=arn, PublishBatchRequestEntries=entries)
    equal(([entry["Id"] for entry in published["Successful"]], published["Failed"]), (["0", "1", "2"], []))
    equal([every.bodies(), cheap.bodies(), tea.bodies()], [bodies, bodies[:2], bodies[:1]])
    water = {"AttributeName": "FilterPolicy", "AttributeValue": '{"order": {"kind": ["water"]}}'}
    sns.set_subscription_attributes(SubscriptionArn=subscription, **water)
    sns.publish(TopicArn=arn, Message=bodies[2])
    sns.publish(TopicArn=arn, Message="no JSON")
    equal([every.bodies(), cheap.bodies(), tea.bodies()], [[bodies[2], "no JSON"], [], bodies[2:]])


def undeliverable_message_goes_to_the_dead_letter_queue():
    arn, dead = topic("undeliverable"), Queue("undeliverable")
    subscribe(arn, dead.arn + "-nowhere", RedrivePolicy={"deadLetterTargetArn": dead.arn}, **RAW)
    sns.publish(TopicArn=arn, Message="lost", MessageAttributes=ATTRIBUTES)
    message = only(dead.receive())
    equal((message["Body"], message["MessageAttributes"]), ("lost", ATTRIBUTES))


def batch_to_a_fifo_topic_keeps_the_order_of_each_group():
    arn = topic("ordered.fifo", FifoTopic="true", ContentBasedDeduplication="true")
    raw, enveloped = Queue("ordered-raw.fifo", FifoQueue="true"), Queue("ordered.fifo", FifoQueue="true")
    subscribe(arn, raw.arn, **RAW)
    subscribe(arn, enveloped.arn)
    texts = ["a0", "b0", "a1", "a2", "b1", "a3", "b2", "b3", "a4", "b4"]
    entries = [{"Id": text, "Message": text, "MessageGroupId": text[0]} for text in texts]
    published = sns.publish_batch(TopicArn=arn, PublishBatchRequestEntries=entries)["Successful"]
    again = sns.publish_batch(TopicArn=arn, PublishBatchRequestEntries=entries)["Successful"]
    equal(again, published)
    messages = raw.all_messages()
    envelopes = [json.loads(message["Body"]) for message in enveloped.all_messages()]
    for group in "ab":
        expected = [text for text in texts if text[0] == group]
        in_group = [message for message in messages if message["Attributes"]["MessageGroupId"] == group]
        equal([message["Body"] for message in in_group], expected)
        equal([envelope["Message"] for envelope in envelopes if envelope["Message"][0] == group], expected)
    numbers = {envelope["Message"]: envelope["SequenceNumber"] for envelope in envelopes}
    equal(numbers, {entry["Id"]: entry["SequenceNumber"] for entry in published})
    # FIFO topics do not sign.
    assert not set(SIGNATURE) & set(envelopes[0]), envelopes[0]


def fifo_topic_drops_duplicates():
    arn, queue = topic("once.fifo", FifoTopic="true"), Queue("once.fifo", FifoQueue="true")
    subscribe(arn, queue.arn, **RAW)
    message = {"TopicArn": arn, "MessageGroupId": "a", "MessageDeduplicationId": "once"}
    first, second = sns.publish(Message="first", **message), sns.publish(Message="second", **message)
    equal([second[name] for name in ("MessageId", "SequenceNumber")], [first["MessageId"], first["SequenceNumber"]])
    received = only(queue.all_messages())
    equal((received["Body"], received["Attributes"]["MessageDeduplicationId"]), ("first", "once"))
    invalid("The MessageGroupId parameter is required for FIFO topics", sns.publish, TopicArn=arn, Message="x")
    text = "The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"
    invalid(text, sns.publish, TopicArn=arn, Message="x", MessageGroupId="a")


def invalid_messages_are_refused():
    arn, errors = topic("strict"), sns.exceptions
    invalid("Empty message", sns.publish, TopicArn=arn, Message="")
    invalid("Message too long", sns.publish, TopicArn=arn, Message="x" * 262_145)
    empty = {"a": {"DataType": "String", "StringValue": ""}}
    text = "The message attribute 'a' must contain non-empty message attribute value for message attribute type 'String'."
    error = errors.InvalidParameterValueException
    rejected(error, 400, "ParameterValueInvalid", text, sns.publish, TopicArn=arn, Message="x", MessageAttributes=empty)
    batches = [
        (errors.TooManyEntriesInBatchRequestException, [str(number) for number in range(11)]),
        (errors.BatchEntryIdsNotDistinctException, ["a", "a"]),
        (errors.InvalidBatchEntryIdException, ["not an id"]),
        (errors.EmptyBatchRequestException, []),
    ]
    for error, ids in batches:
        code, entries = error.__name__.removesuffix("Exception"), [{"Id": name, "Message": "x"} for name in ids]
        rejected(error, 400, code, "", sns.publish_batch, TopicArn=arn, PublishBatchRequestEntries=entries)


TOUR = [
    envelope_and_raw_message_have_all_that_was_published,
    signature_is_verified_with_the_certificate_of_the_server,
    message_structure_has_a_text_for_queues,
    filter_policies_select_by_attributes_and_by_body,
    undeliverable_message_goes_to_the_dead_letter_queue,
    batch_to_a_fifo_topic_keeps_the_order_of_each_group,
    fifo_topic_drops_duplicates,
    invalid_messages_are_refused,
]
for step in TOUR:
    step()
print(f"ok: deliveries of topics, boto3 {boto3.__version__}")
