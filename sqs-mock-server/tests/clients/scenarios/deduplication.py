"""Deduplication on FIFO queues."""

import hashlib

from checks import equal, only, rejected


def duplicate_within_five_minutes_gets_the_same_response_and_is_not_stored(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", deduplication_id="x")
    mock.advance(150)
    again = queue.send("another text", group="g", deduplication_id="x")
    equal(again["MessageId"], first["MessageId"])
    equal(again["SequenceNumber"], first["SequenceNumber"])
    equal(queue.counts(), (1, 0, 0))


def deduplication_window_ends_five_minutes_after_the_first_send(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", deduplication_id="x")
    mock.advance(299)
    equal(queue.send("2", group="g", deduplication_id="x")["MessageId"], first["MessageId"])
    mock.advance(1)
    second = queue.send("3", group="g", deduplication_id="x")
    assert second["MessageId"] != first["MessageId"] and second["SequenceNumber"] > first["SequenceNumber"]
    equal(queue.bodies(), ["1", "3"])


def deduplication_window_continues_after_the_delete(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", deduplication_id="x")
    queue.delete(only(queue.receive()))
    equal(queue.send("1", group="g", deduplication_id="x")["MessageId"], first["MessageId"])
    equal(queue.counts(), (0, 0, 0))


def content_is_the_default_deduplication_id_if_the_queue_enables_it(mock):
    queue = mock.fifo(ContentBasedDeduplication="true")
    send = {"QueueUrl": queue.url, "MessageGroupId": "g"}
    first = mock.sqs.send_message(MessageBody="same", **send)
    attribute = {"n": {"DataType": "Number", "StringValue": "1"}}
    again = mock.sqs.send_message(MessageBody="same", MessageAttributes=attribute, **send)
    equal(again["MessageId"], first["MessageId"])
    other = mock.sqs.send_message(MessageBody="same", MessageDeduplicationId="x", **send)
    assert other["MessageId"] != first["MessageId"]
    ids = [message["Attributes"]["MessageDeduplicationId"] for message in queue.receive()]
    equal(ids, [hashlib.sha256(b"same").hexdigest(), "x"])


def message_without_a_deduplication_id_is_rejected(mock):
    queue = mock.fifo()
    send = {"QueueUrl": queue.url, "MessageGroupId": "g", "MessageBody": "x"}
    reason = rejected("InvalidParameterValue", mock.sqs.send_message, **send)
    assert "ContentBasedDeduplication" in reason, reason


def deduplication_scope_is_the_queue_or_the_message_group(mock):
    for scope, stored in [("queue", 1), ("messageGroup", 2)]:
        queue = mock.fifo(DeduplicationScope=scope)
        queue.send("1", group="a", deduplication_id="x")
        queue.send("2", group="b", deduplication_id="x")
        queue.send("3", group="b", deduplication_id="x")
        equal(queue.counts()[0], stored)


def duplicate_within_a_batch_is_not_stored(mock):
    queue = mock.fifo()
    entry = {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "x"}
    sent = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=[{"Id": "a", **entry}, {"Id": "b", **entry}])
    first, second = sent["Successful"]
    equal(first["MessageId"], second["MessageId"])
    equal(queue.counts(), (1, 0, 0))


def purge_removes_deduplication_ids(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", deduplication_id="x")
    mock.sqs.purge_queue(QueueUrl=queue.url)
    assert queue.send("1", group="g", deduplication_id="x")["MessageId"] != first["MessageId"]
    equal(queue.counts(), (1, 0, 0))
