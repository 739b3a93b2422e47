"""Events that end a long poll."""

from checks import equal, only


def poll_ends_when_a_message_is_sent(mock):
    queue = mock.queue()
    poll = queue.poll()
    queue.send("x")
    equal(poll.bodies(), ["x"])


def poll_ends_when_a_visibility_timeout_expires(mock):
    queue = mock.queue()
    queue.send("x")
    only(queue.receive())
    poll = queue.poll()
    mock.advance(15)
    poll.still_waits()
    mock.advance(15)
    message = only(poll.messages())
    equal((message["Body"], message["Attributes"]["ApproximateReceiveCount"]), ("x", "2"))


def poll_ends_when_a_message_is_made_visible(mock):
    queue = mock.queue()
    queue.send("x")
    message = only(queue.receive())
    poll = queue.poll()
    queue.hide(message, 0)
    equal(poll.bodies(), ["x"])


def poll_ends_earlier_when_a_visibility_timeout_is_shortened(mock):
    queue = mock.queue(VisibilityTimeout="600")
    queue.send("x")
    message = only(queue.receive())
    poll = queue.poll()
    queue.hide(message, 10)
    mock.advance(9)
    poll.still_waits()
    mock.advance(1)
    equal(poll.bodies(), ["x"])


def poll_ends_when_a_delay_ends(mock):
    queue = mock.queue(DelaySeconds="10")
    poll = queue.poll()
    queue.send("x")
    mock.advance(9)
    poll.still_waits()
    mock.advance(1)
    equal(poll.bodies(), ["x"])


def poll_ends_when_a_delete_unlocks_a_group(mock):
    queue = mock.fifo()
    for body in "123":
        queue.send(body, group="g")
    first, second = queue.receive(max_messages=2)
    poll = queue.poll()
    queue.delete(first)
    poll.still_waits()
    queue.delete(second)
    equal(poll.bodies(), ["3"])


def poll_ends_when_a_visibility_timeout_unlocks_a_group(mock):
    queue = mock.fifo()
    queue.send("1", group="g")
    queue.send("2", group="g")
    only(queue.receive(max_messages=1))
    poll = queue.poll()
    mock.advance(10)
    poll.still_waits()
    # The poll would time out after 20 seconds, and the visibility timeout ends after 30. The last step passes both.
    mock.advance(9)
    poll.still_waits()
    mock.advance(11)
    equal(poll.bodies(), ["1", "2"])


def poll_ends_when_dead_letters_arrive(mock):
    queue, dead = mock.with_dead_letters(VisibilityTimeout="0")
    queue.send("x")
    only(queue.receive())
    poll = dead.poll()
    equal(queue.receive(), [])
    equal(poll.bodies(), ["x"])


def poll_returns_no_messages_after_its_wait_time(mock):
    queue = mock.queue(ReceiveMessageWaitTimeSeconds="7")
    poll = queue.poll(WaitTimeSeconds=5)
    mock.advance(4.999)
    poll.still_waits()
    mock.advance(0.001)
    equal(poll.messages(), [])
    equal(queue.receive(WaitTimeSeconds=0), [])


def each_message_ends_one_poll(mock):
    queue = mock.queue()
    polls = [queue.poll(max_messages=1), queue.poll(max_messages=1)]
    queue.send("1")
    queue.send("2")
    equal(sorted(polls[0].bodies() + polls[1].bodies()), ["1", "2"])


def messages_of_a_batch_end_one_poll_each(mock):
    queue = mock.queue()
    polls = [queue.poll(max_messages=1) for _ in range(3)]
    entries = [{"Id": body, "MessageBody": body, "DelaySeconds": 5} for body in "abc"]
    mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    mock.advance(5)
    equal(sorted(only(poll.bodies()) for poll in polls), ["a", "b", "c"])
