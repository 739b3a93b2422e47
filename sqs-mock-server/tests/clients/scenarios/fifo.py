"""Order and locks of groups."""

from checks import equal, only, refused


def queue_with(mock, **groups):
    """A FIFO queue with these messages, as `a="123"`: one message for each letter."""
    queue = mock.fifo()
    for group, bodies in groups.items():
        for body in bodies:
            queue.send(body, group=group)
    return queue


def group_with_a_message_in_flight_gives_no_other(mock):
    queue = queue_with(mock, a="12")
    first = only(queue.receive(most=1))
    equal(queue.receive(), [])
    queue.send("3", group="a")
    equal(queue.receive(), [])
    # The others are locked, not in flight.
    equal(queue.counts(), (2, 1, 0))
    queue.delete(first)
    equal(queue.bodies(), ["2", "3"])


def group_stays_locked_until_all_that_were_received_are_deleted(mock):
    queue = queue_with(mock, a="123")
    first, second = queue.receive(most=2)
    equal((first["Body"], second["Body"]), ("1", "2"))
    queue.delete(second)
    equal(queue.receive(), [])
    queue.delete(first)
    equal(queue.bodies(), ["3"])


def messages_return_to_the_head_of_their_group_in_order(mock):
    queue = queue_with(mock, a="1234")
    received = queue.receive(most=3)
    for message in reversed(received):
        queue.hide(message, 0)
    again = queue.receive()
    equal([message["Body"] for message in again], list("1234"))
    counts = [message["Attributes"]["ApproximateReceiveCount"] for message in again]
    equal(counts, ["2", "2", "2", "1"])
    mock.advance(30)
    equal(queue.bodies(), list("1234"))


def extended_message_keeps_back_all_behind_it(mock):
    queue = queue_with(mock, a="123")
    _, second = queue.receive(most=2)
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
    seen = [queue.bodies(most=1) for _ in range(4)]
    equal(seen, [["1"], ["3"], ["5"], []])


def receive_fills_up_from_one_group_before_the_next(mock):
    queue = queue_with(mock, a="123", b="456")
    equal(queue.bodies(most=4), list("1234"))
    equal(queue.receive(), [])


def sequence_numbers_grow(mock):
    queue = mock.fifo()
    sent = [queue.send(str(n), group="ab"[n % 2])["SequenceNumber"] for n in range(6)]
    equal(sorted(sent), sent)
    equal({len(number) for number in sent}, {20})
    received = {message["Body"]: message["Attributes"]["SequenceNumber"] for message in queue.receive()}
    equal(received, {str(n): number for n, number in enumerate(sent)})


def handle_is_no_good_after_visibility_ran_out(mock):
    queue = queue_with(mock, a="1")
    message = only(queue.receive())
    mock.advance(30)
    reason = refused("InvalidParameterValue", queue.delete, message=message)
    assert reason.endswith("Reason: The receipt handle has expired."), reason
    queue.delete(only(queue.receive()))
    equal(queue.counts(), (0, 0, 0))


def attempt_repeated_with_its_id_gets_the_same_messages_and_hides_them_anew(mock):
    queue = queue_with(mock, a="12", b="3")
    attempt = {"most": 2, "ReceiveRequestAttemptId": "try"}
    first = queue.receive(**attempt)
    mock.advance(20)
    again = queue.receive(**attempt)
    equal([message["ReceiptHandle"] for message in again], [message["ReceiptHandle"] for message in first])
    # Others get what is left, and 20 seconds later none of the two is visible yet.
    equal(queue.bodies(ReceiveRequestAttemptId="other"), ["3"])
    mock.advance(20)
    equal(queue.counts(), (0, 3, 0))
    for message in again:
        queue.delete(message)


def attempt_is_refused_once_a_message_was_changed(mock):
    for change in [lambda message: queue.delete(message), lambda message: queue.hide(message, 60)]:
        queue = queue_with(mock, a="12")
        received = queue.receive(ReceiveRequestAttemptId="try")
        change(received[0])
        reason = refused("InvalidParameterValue", queue.receive, ReceiveRequestAttemptId="try")
        assert reason.endswith("not valid anymore since the receive call is not retryable."), reason
