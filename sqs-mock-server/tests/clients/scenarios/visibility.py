"""Visibility timeouts."""

from checks import equal, only, rejected

HOUR = 3600


def visibility_timeout_is_that_of_the_queue_or_of_the_receive(mock):
    queue = mock.queue(VisibilityTimeout="10")
    queue.send("x")
    only(queue.receive())
    equal(queue.counts(), (0, 1, 0))
    mock.advance(9.999)
    equal(queue.receive(), [])
    mock.advance(0.001)
    only(queue.receive(VisibilityTimeout=100))
    mock.advance(99)
    equal(queue.receive(), [])
    mock.advance(1)
    message = only(queue.receive(VisibilityTimeout=0))
    equal(message["Attributes"]["ApproximateReceiveCount"], "3")
    equal(queue.counts(), (1, 0, 0))


def visibility_change_starts_now_and_applies_to_one_receive(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive())
    mock.advance(20)
    queue.hide(message, 60)
    mock.advance(59)
    equal(queue.counts(), (0, 1, 0))
    mock.advance(1)
    only(queue.receive())
    mock.advance(30)
    equal(queue.counts(), (1, 0, 0))


def visibility_is_limited_to_twelve_hours_after_the_receive(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive(VisibilityTimeout=12 * HOUR))
    mock.advance(2 * HOUR)
    reason = rejected("InvalidParameterValue", queue.hide, message=message, seconds=10 * HOUR + 1)
    assert "43200" in reason, reason
    queue.hide(message, 10 * HOUR)
    mock.advance(10 * HOUR - 1)
    equal(queue.counts(), (0, 1, 0))
    rejected("InvalidParameterValue", queue.hide, message=message, seconds=2)
    mock.advance(1)
    # The limit of twelve hours starts again with the next receive.
    queue.hide(only(queue.receive()), 12 * HOUR)
    equal(queue.counts(), (0, 1, 0))


def late_delete_on_a_standard_queue_succeeds(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive())
    mock.advance(30)
    equal(queue.counts(), (1, 0, 0))
    queue.delete(message)
    equal(queue.counts(), (0, 0, 0))
    queue.delete(message)


def late_visibility_change_hides_the_message_again(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive())
    mock.advance(45)
    queue.hide(message, 60)
    equal(queue.counts(), (0, 1, 0))


def visibility_of_a_deleted_message_cannot_be_changed(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive())
    queue.delete(message)
    reason = rejected("InvalidParameterValue", queue.hide, message=message, seconds=5)
    assert "does not exist or is not available for visibility timeout change" in reason, reason


def each_receive_returns_a_new_handle(mock):
    queue = mock.queue(VisibilityTimeout="0")
    queue.send("x")
    handles = {only(queue.receive())["ReceiptHandle"] for _ in range(3)}
    equal(len(handles), 3)
