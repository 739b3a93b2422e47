"""Messages that are sent more than once."""

import hashlib

from checks import equal, only, refused


def duplicate_within_five_minutes_is_answered_like_the_original_and_not_stored(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", once="x")
    mock.advance(150)
    again = queue.send("another text", group="g", once="x")
    equal(again["MessageId"], first["MessageId"])
    equal(again["SequenceNumber"], first["SequenceNumber"])
    equal(queue.counts(), (1, 0, 0))


def window_counts_from_the_first_send_and_no_longer(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", once="x")
    mock.advance(299)
    equal(queue.send("2", group="g", once="x")["MessageId"], first["MessageId"])
    mock.advance(1)
    second = queue.send("3", group="g", once="x")
    assert second["MessageId"] != first["MessageId"] and second["SequenceNumber"] > first["SequenceNumber"]
    equal(queue.bodies(), ["1", "3"])


def window_outlives_the_message(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", once="x")
    queue.delete(only(queue.receive()))
    equal(queue.send("1", group="g", once="x")["MessageId"], first["MessageId"])
    equal(queue.counts(), (0, 0, 0))


def content_decides_where_the_queue_says_so_and_no_id_is_given(mock):
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


def message_without_any_id_is_refused(mock):
    queue = mock.fifo()
    send = {"QueueUrl": queue.url, "MessageGroupId": "g", "MessageBody": "x"}
    reason = refused("InvalidParameterValue", mock.sqs.send_message, **send)
    assert "ContentBasedDeduplication" in reason, reason


def scope_says_whether_groups_share_ids(mock):
    for scope, stored in [("queue", 1), ("messageGroup", 2)]:
        queue = mock.fifo(DeduplicationScope=scope)
        queue.send("1", group="a", once="x")
        queue.send("2", group="b", once="x")
        queue.send("3", group="b", once="x")
        equal(queue.counts()[0], stored)


def entry_of_a_batch_can_be_the_duplicate_of_another(mock):
    queue = mock.fifo()
    entry = {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "x"}
    sent = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=[{"Id": "a", **entry}, {"Id": "b", **entry}])
    first, second = sent["Successful"]
    equal(first["MessageId"], second["MessageId"])
    equal(queue.counts(), (1, 0, 0))


def purge_forgets_the_ids(mock):
    queue = mock.fifo()
    first = queue.send("1", group="g", once="x")
    mock.sqs.purge_queue(QueueUrl=queue.url)
    assert queue.send("1", group="g", once="x")["MessageId"] != first["MessageId"]
    equal(queue.counts(), (1, 0, 0))
