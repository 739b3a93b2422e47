"""Batches, of which some entries fail."""

from checks import equal, only

BAD = "\x02"


def outcome(answer):
    """The ids that succeeded, and those that failed with the code and whose fault it was."""
    failed = answer.get("Failed", [])
    return (
        [entry["Id"] for entry in answer.get("Successful", [])],
        [(entry["Id"], entry["Code"], entry["SenderFault"]) for entry in failed],
    )


def bad_entries_of_a_send_fail_alone(mock):
    queue = mock.queue(MaximumMessageSize="1024")
    texts = [("a", "fine"), ("b", BAD), ("c", "x" * 1024), ("d", "x" * 1025)]
    entries = [{"Id": name, "MessageBody": text} for name, text in texts]
    answer = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    failed = [("b", "InvalidMessageContents", True), ("d", "InvalidParameterValue", True)]
    equal(outcome(answer), (["a", "c"], failed))
    equal(queue.counts(), (2, 0, 0))


def batch_of_nothing_but_failures_is_still_an_answer(mock):
    queue = mock.queue()
    entries = [{"Id": str(n), "MessageBody": BAD} for n in range(10)]
    done, failed = outcome(mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries))
    equal((done, len(failed)), ([], 10))


def bad_entries_of_a_delete_fail_alone(mock):
    queue = mock.queue()
    queue.send("x")
    handle = only(queue.receive())["ReceiptHandle"]
    entries = [{"Id": "good", "ReceiptHandle": handle}, {"Id": "bad", "ReceiptHandle": "no handle"}]
    answer = mock.sqs.delete_message_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(answer), (["good"], [("bad", "ReceiptHandleIsInvalid", True)]))
    equal(queue.counts(), (0, 0, 0))


def expired_handles_of_a_fifo_queue_fail_alone(mock):
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
    answer = mock.sqs.delete_message_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(answer), (["new"], [("old", "ReceiptHandleIsInvalid", True)]))
    equal(queue.bodies(), ["1"])


def visibility_of_each_entry_is_its_own(mock):
    queue = mock.queue()
    for body in "abc":
        queue.send(body)
    entries = [
        {"Id": message["Body"], "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": seconds}
        for message, seconds in zip(sorted(queue.receive(), key=lambda message: message["Body"]), [0, 50, 43201])
    ]
    answer = mock.sqs.change_message_visibility_batch(QueueUrl=queue.url, Entries=entries)
    equal(outcome(answer), (["a", "b"], [("c", "InvalidParameterValue", True)]))
    equal(queue.bodies(VisibilityTimeout=600), ["a"])
    mock.advance(30)
    equal(queue.bodies(VisibilityTimeout=600), ["c"])
    mock.advance(20)
    equal(queue.bodies(VisibilityTimeout=600), ["b"])


def entries_of_a_batch_keep_their_order_within_a_group(mock):
    queue = mock.fifo()
    fields = ("Id", "MessageBody", "MessageDeduplicationId")
    entries = [{**dict.fromkeys(fields, str(n)), "MessageGroupId": "g"} for n in range(10)]
    answer = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    numbers = [entry["SequenceNumber"] for entry in answer["Successful"]]
    equal(sorted(numbers), numbers)
    equal(queue.bodies(), [str(n) for n in range(10)])
