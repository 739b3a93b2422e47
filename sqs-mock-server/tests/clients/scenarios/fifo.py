"""Order and locks of message groups."""

from checks import equal, only, rejected


def queue_with(mock, **groups):
    """A FIFO queue with messages by group: `a="123"` sends the bodies 1, 2 and 3 to the group a."""
    queue = mock.fifo()
    for group, bodies in groups.items():
        for body in bodies:
            queue.send(body, group=group)
    return queue


def group_with_a_message_in_flight_returns_no_others(mock):
    queue = queue_with(mock, a="12")
    first = only(queue.receive(max_messages=1))
    equal(queue.receive(), [])
    queue.send("3", group="a")
    equal(queue.receive(), [])
    # Only the received message is in flight; the others are locked.
    equal(queue.counts(), (2, 1, 0))
    queue.delete(first)
    equal(queue.bodies(), ["2", "3"])


def group_stays_locked_until_all_received_messages_are_deleted(mock):
    queue = queue_with(mock, a="123")
    first, second = queue.receive(max_messages=2)
    equal((first["Body"], second["Body"]), ("1", "2"))
    queue.delete(second)
    equal(queue.receive(), [])
    queue.delete(first)
    equal(queue.bodies(), ["3"])


def messages_return_to_the_head_of_their_group_in_order(mock):
    queue = queue_with(mock, a="1234")
    received = queue.receive(max_messages=3)
    for message in reversed(received):
        queue.hide(message, 0)
    again = queue.receive()
    equal([message["Body"] for message in again], list("1234"))
    counts = [message["Attributes"]["ApproximateReceiveCount"] for message in again]
    equal(counts, ["2", "2", "2", "1"])
    mock.advance(30)
    equal(queue.bodies(), list("1234"))


def message_with_extended_visibility_blocks_the_rest_of_its_group(mock):
    queue = queue_with(mock, a="123")
    _, second = queue.receive(max_messages=2)
    queue.hide(second, 100)
    mock.advance(30)
    equal(queue.bodies(), ["1"])
    equal(queue.receive(), [])
    mock.advance(69)
    equal(queue.bodies(), ["1"])
    mock.advance(30)
    equal(queue.bodies(), ["1", "2", "3"])


def groups_do_not_wait_for_each_other(mock):
    queue = queue_with(mock, a="12", b="34", c="5")
    seen = [queue.bodies(max_messages=1) for _ in range(4)]
    equal(seen, [["1"], ["3"], ["5"], []])


def receive_returns_messages_of_one_group_before_the_next(mock):
    queue = queue_with(mock, a="123", b="456")
    equal(queue.bodies(max_messages=4), list("1234"))
    equal(queue.receive(), [])


def sequence_numbers_increase(mock):
    queue = mock.fifo()
    sent = [queue.send(str(n), group="ab"[n % 2])["SequenceNumber"] for n in range(6)]
    equal(sorted(sent), sent)
    equal({len(number) for number in sent}, {20})
    received = {message["Body"]: message["Attributes"]["SequenceNumber"] for message in queue.receive()}
    equal(received, {str(n): number for n, number in enumerate(sent)})


def handle_is_invalid_after_the_visibility_timeout(mock):
    queue = queue_with(mock, a="1")
    message = only(queue.receive())
    mock.advance(30)
    reason = rejected("InvalidParameterValue", queue.delete, message=message)
    assert reason.endswith("Reason: The receipt handle has expired."), reason
    queue.delete(only(queue.receive()))
    equal(queue.counts(), (0, 0, 0))


def repeated_attempt_returns_the_same_messages_and_renews_their_visibility(mock):
    queue = queue_with(mock, a="12", b="3")
    attempt = {"max_messages": 2, "ReceiveRequestAttemptId": "try"}
    first = queue.receive(**attempt)
    mock.advance(20)
    again = queue.receive(**attempt)
    equal([message["ReceiptHandle"] for message in again], [message["ReceiptHandle"] for message in first])
    # Another attempt gets the other message. 20 seconds later, all three are still in flight.
    equal(queue.bodies(ReceiveRequestAttemptId="other"), ["3"])
    mock.advance(20)
    equal(queue.counts(), (0, 3, 0))
    for message in again:
        queue.delete(message)


def repeated_attempt_is_rejected_after_a_change_of_its_messages(mock):
    for change in [lambda message: queue.delete(message), lambda message: queue.hide(message, 60)]:
        queue = queue_with(mock, a="12")
        received = queue.receive(ReceiveRequestAttemptId="try")
        change(received[0])
        reason = rejected("InvalidParameterValue", queue.receive, ReceiveRequestAttemptId="try")
        assert reason.endswith("not valid anymore since the receive call is not retryable."), reason
