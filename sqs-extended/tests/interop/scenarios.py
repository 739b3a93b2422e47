"""The scenarios: what two clients do with each other's messages. `ALL` lists them."""

import base64

from clients import expect

SMALL = "small, äöü"

def large(name):
    """A body over the threshold, with characters that JSON escapes and characters of several bytes in UTF-8."""
    return "".join(f'{name} {line} "quoted" \\ äöü € 𝄞\t\n' for line in range(9000))


def own_attributes(writer):
    """The library for Python only sends binary values that are UTF-8."""
    value = "ü€".encode() if writer.library.name == "python" else bytes([0, 1, 254, 255])
    return {
        "Color": {"DataType": "String", "StringValue": "grün"},
        "Count": {"DataType": "Number", "StringValue": "-1.5"},
        "Bytes": {"DataType": "Binary", "BinaryValue": base64.b64encode(value).decode()},
    }


def single_messages(exchange):
    for body, count in (large("a"), 1), (SMALL, 0):
        exchange.send(body)
        expect("objects of the message", count, len(exchange.new_objects()))
        receive_and_delete(exchange, [body])


def streamed_payload(exchange):
    """A streamed payload of ours has its hash in the data type of the attribute of its pointer."""
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
    expect("objects of the batch", 2, len(exchange.new_objects()))
    receive_and_delete(exchange, bodies, "DeleteMessageBatch")


def fifo_queue(exchange):
    names = ["a", "b", "c"]
    for name in names:
        exchange.send(large(name), MessageGroupId="group", MessageDeduplicationId=name)
    messages = exchange.receive(3, AttributeNames=["All"])
    expect("bodies in their order", [large(name) for name in names], [message["Body"] for message in messages])
    for name, message in zip(names, messages):
        expect("group", "group", message["Attributes"]["MessageGroupId"])
        expect("deduplication id", name, message["Attributes"]["MessageDeduplicationId"])
    exchange.settle(exchange.reader, "DeleteMessageBatch", messages)
    exchange.expect_nothing_left()


def key_prefix(exchange):
    prefix = "orders/eu-"
    exchange.writer = exchange.writer.with_prefix(prefix)
    exchange.send(large("a"))
    expect("prefixes of the keys", [prefix], [key[: len(prefix)] for key in exchange.new_objects()])
    receive_and_delete(exchange, [large("a")])


def visibility(exchange):
    """The queue hides messages for longer than a receive waits, so it receives them again because they were made visible."""
    bodies = [large("a"), SMALL, large("c")]
    for body in bodies:
        exchange.send(body)
    for action in "ChangeMessageVisibility", "ChangeMessageVisibilityBatch":
        messages = exchange.receive(3)
        exchange.settle(exchange.reader, action, messages, VisibilityTimeout=0)
    receive_and_delete(exchange, bodies)


def handles_of_the_reader(exchange):
    """The receipt handles of the reader are good for the writer."""
    bodies = [large("a"), SMALL, large("c")]
    for action in "DeleteMessage", "DeleteMessageBatch":
        for body in bodies:
            exchange.send(body)
        messages = exchange.receive(3)
        exchange.settle(exchange.writer, "ChangeMessageVisibility", messages, VisibilityTimeout=60)
        exchange.settle(exchange.writer, action, messages)
        exchange.expect_nothing_left()


def receive_and_delete(exchange, bodies, action="DeleteMessage"):
    messages = exchange.receive(len(bodies))
    expect("bodies", sorted(bodies), sorted(message["Body"] for message in messages))
    exchange.settle(exchange.reader, action, messages)
    exchange.expect_nothing_left()


def receive_attributes_and_delete(exchange, body):
    (message,) = exchange.receive(1, MessageAttributeNames=["All"])
    expect("body", body, message["Body"])
    # All libraries hide the attribute of the pointer.
    expect("attributes", own_attributes(exchange.writer), attributes_of(message))
    exchange.settle(exchange.reader, "DeleteMessage", [message])
    exchange.expect_nothing_left()


def attributes_of(message):
    """Without the empty members that some libraries show."""
    members = ("DataType", "StringValue", "BinaryValue")
    shown = (message.get("MessageAttributes") or {}).items()
    return {name: {key: value[key] for key in members if value.get(key)} for name, value in shown}


ALL = [
    single_messages,
    streamed_payload,
    attributes,
    batches,
    fifo_queue,
    key_prefix,
    visibility,
    handles_of_the_reader,
]
