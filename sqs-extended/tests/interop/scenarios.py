"""Scenarios with messages between two clients. `ALL` lists them."""

import base64

from clients import expect

SMALL = "small, äöü"

def large(name):
    """A body over the size threshold, with characters that JSON escapes and multi-byte characters."""
    return "".join(f'{name} {line} "quoted" \\ äöü € 𝄞\t\n' for line in range(9000))


def own_attributes(writer):
    """Attributes of all types. The library for Python sends binary values only if they are UTF-8."""
    value = "ü€".encode() if writer.library.name == "python" else bytes([0, 1, 254, 255])
    return {
        "Color": {"DataType": "String", "StringValue": "grün"},
        "Count": {"DataType": "Number", "StringValue": "-1.5"},
        "Bytes": {"DataType": "Binary", "BinaryValue": base64.b64encode(value).decode()},
    }


def single_messages(exchange):
    for body, count in (large("a"), 1), (SMALL, 0):
        exchange.send(body)
        expect("number of objects of the message", count, len(exchange.new_objects()))
        receive_and_delete(exchange, [body])


def streamed_payload(exchange):
    """Our client stores the hash of a streamed payload in the data type of the pointer attribute."""
    exchange.send(large("a"), "SendStream", MessageAttributes=own_attributes(exchange.writer))
    receive_attributes_and_delete(exchange, large("a"))


def attributes(exchange):
    for body in large("a"), SMALL:
        exchange.send(body, MessageAttributes=own_attributes(exchange.writer))
        receive_attributes_and_delete(exchange, body)


def batches(exchange):
    bodies = [large("a"), SMALL, large("c")]
    entries = [{"Id": f"n{n}", "MessageBody": body} for n, body in enumerate(bodies)]
    exchange.writer("SendMessageBatch", QueueUrl=exchange.queue, Entries=entries)
    expect("number of objects of the batch", 2, len(exchange.new_objects()))
    receive_and_delete(exchange, bodies, "DeleteMessageBatch")


def fifo_queue(exchange):
    names = ["a", "b", "c"]
    for name in names:
        exchange.send(large(name), MessageGroupId="group", MessageDeduplicationId=name)
    messages = exchange.receive(3, AttributeNames=["All"])
    expect("bodies in order", [large(name) for name in names], [message["Body"] for message in messages])
    for name, message in zip(names, messages):
        expect("group", "group", message["Attributes"]["MessageGroupId"])
        expect("deduplication id", name, message["Attributes"]["MessageDeduplicationId"])
    exchange.run_on(exchange.reader, "DeleteMessageBatch", messages)
    exchange.expect_no_leftovers()


def key_prefix(exchange):
    prefix = "orders/eu-"
    exchange.writer = exchange.writer.with_prefix(prefix)
    exchange.send(large("a"))
    expect("prefixes of the keys", [prefix], [key[: len(prefix)] for key in exchange.new_objects()])
    receive_and_delete(exchange, [large("a")])


def visibility(exchange):
    """The visibility timeout is longer than the wait time, so only the visibility change makes messages visible again."""
    bodies = [large("a"), SMALL, large("c")]
    for body in bodies:
        exchange.send(body)
    for action in "ChangeMessageVisibility", "ChangeMessageVisibilityBatch":
        messages = exchange.receive(3)
        exchange.run_on(exchange.reader, action, messages, VisibilityTimeout=0)
    receive_and_delete(exchange, bodies)


def handles_of_the_reader(exchange):
    """The writer can use the receipt handles of the reader."""
    bodies = [large("a"), SMALL, large("c")]
    for action in "DeleteMessage", "DeleteMessageBatch":
        for body in bodies:
            exchange.send(body)
        messages = exchange.receive(3)
        exchange.run_on(exchange.writer, "ChangeMessageVisibility", messages, VisibilityTimeout=60)
        exchange.run_on(exchange.writer, action, messages)
        exchange.expect_no_leftovers()


def keys_of_the_sender(exchange):
    """Our client deletes an object whose key does not end in a UUID only if a setting allows its prefix."""
    key = "reports/july"
    chosen = {"S3Key": {"DataType": "String", "StringValue": key}}
    reader = exchange.reader
    ours, others = reader.with_ours(delete_prefix="reports/"), reader.with_ours(delete_prefix="orders/")
    for client, remaining in (reader, [key]), (others, [key]), (ours, []), (exchange.writer, []):
        for action in "DeleteMessage", "DeleteMessageBatch":
            exchange.send(large("a"), MessageAttributes=chosen)
            expect("keys of the objects", [key], exchange.new_objects())
            (message,) = exchange.receive(1)
            expect("body", large("a"), message["Body"])
            exchange.run_on(client, action, [message])
            expect(f"objects after {action} of {client} {client.ours}", remaining, exchange.new_objects())
    exchange.expect_no_leftovers()


def missing_object(exchange):
    """With a setting, a receive of our client fails like those of the other libraries. The message stays in flight."""
    exchange.send(large("a"))
    for key in exchange.new_objects():
        exchange.witness("DeleteObject", Key=key)
    reader = exchange.reader.with_ours(fail_receives=True)
    reader.expect_error("ReceiveMessage", QueueUrl=exchange.queue, WaitTimeSeconds=5)
    exchange.expect_messages(visible=0, in_flight=1)


def receive_and_delete(exchange, bodies, action="DeleteMessage"):
    messages = exchange.receive(len(bodies))
    expect("bodies", sorted(bodies), sorted(message["Body"] for message in messages))
    exchange.run_on(exchange.reader, action, messages)
    exchange.expect_no_leftovers()


def receive_attributes_and_delete(exchange, body):
    (message,) = exchange.receive(1, MessageAttributeNames=["All"])
    expect("body", body, message["Body"])
    # All libraries hide the pointer attribute.
    expect("attributes", own_attributes(exchange.writer), attributes_of(message))
    exchange.run_on(exchange.reader, "DeleteMessage", [message])
    exchange.expect_no_leftovers()


def attributes_of(message):
    """The attributes without the empty members that some libraries return."""
    members = ("DataType", "StringValue", "BinaryValue")
    returned = (message.get("MessageAttributes") or {}).items()
    return {name: {key: value[key] for key in members if value.get(key)} for name, value in returned}


ALL = [
    single_messages,
    streamed_payload,
    attributes,
    batches,
    fifo_queue,
    key_prefix,
    visibility,
    handles_of_the_reader,
    keys_of_the_sender,
    missing_object,
]
