"""Batches in which some entries fail."""

from checks import equal, only

BAD = "\x02"


def outcome(response):
    """The successful ids, and the failed ids with their code and sender fault."""
    failed = response.get("Failed", [])
    return (
        [entry["Id"] for entry in response.get("Successful", [])],
        [(entry["Id"], entry["Code"], entry["SenderFault"]) for entry in failed],
    )


def invalid_entry_of_a_batch_send_fails_alone(mock):
    queue = mock.queue(MaximumMessageSize="1024")
    texts = [("a", "fine"), ("b", BAD), ("c", "x" * 1024), ("d", "x" * 1025)]
    entries = [{"Id": name, "MessageBody": text} for name, text in texts]
    response = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    failed = [("b", "InvalidMessageContents", True), ("d", "InvalidParameterValue", True)]
    equal(outcome(response), (["a", "c"], failed))
    equal(queue.counts(), (2, 0, 0))


def batch_with_failed_entries_only_returns_a_response(mock):
    queue = mock.queue()
    entries = [{"Id": str(n), "MessageBody": BAD} for n in range(10)]
    done, failed = outcome(mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries))
    equal((done, len(failed)), ([], 10))


def invalid_entry_of_a_batch_delete_fails_alone(mock):
    queue = mock.queue()
    queue.send("x")
    handle = only(queue.receive())["ReceiptHandle"]
    entries = [{"Id": "good", "ReceiptHandle": handle}, {"Id": "bad", "ReceiptHandle": "no handle"}]
    response = mock.sqs.delete_message_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(response), (["good"], [("bad", "ReceiptHandleIsInvalid", True)]))
    equal(queue.counts(), (0, 0, 0))


def expired_handle_in_a_batch_delete_of_a_fifo_queue_fails_alone(mock):
    queue = mock.fifo()
    queue.send("1", group="a")
    old = only(queue.receive())
    mock.advance(30)
    queue.send("2", group="b")
    new = only([message for message in queue.receive() if message["Body"] == "2"])
    mock.advance(29)
    queue.hide(new, 60)
    mock.advance(1)
    entries = [{"Id": n, "ReceiptHandle": message["ReceiptHandle"]} for n, message in [("old", old), ("new", new)]]
    response = mock.sqs.delete_message_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(response), (["new"], [("old", "ReceiptHandleIsInvalid", True)]))
    equal(queue.bodies(), ["1"])


def batch_entries_have_separate_visibility_timeouts(mock):
    queue = mock.queue()
    for body in "abc":
        queue.send(body)
    entries = [
        {"Id": message["Body"], "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": seconds}
        for message, seconds in zip(sorted(queue.receive(), key=lambda message: message["Body"]), [0, 50, 43201])
    ]
    response = mock.sqs.change_message_visibility_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(response), (["a", "b"], [("c", "InvalidParameterValue", True)]))
    equal(queue.bodies(VisibilityTimeout=600), ["a"])
    mock.advance(30)
    equal(queue.bodies(VisibilityTimeout=600), ["c"])
    mock.advance(20)
    equal(queue.bodies(VisibilityTimeout=600), ["b"])


def batch_entries_keep_their_order_within_a_group(mock):
    queue = mock.fifo()
    fields = ("Id", "MessageBody", "MessageDeduplicationId")
    entries = [{**dict.fromkeys(fields, str(n)), "MessageGroupId": "g"} for n in range(10)]
    response = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    numbers = [entry["SequenceNumber"] for entry in response["Successful"]]
    equal(sorted(numbers), numbers)
    equal(queue.bodies(), [str(n) for n in range(10)])
