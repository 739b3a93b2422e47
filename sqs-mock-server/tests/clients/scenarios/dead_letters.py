"""Dead-letter queues."""

from checks import equal, only, rejected


def message_over_its_receive_count_moves_at_the_next_receive(mock):
    queue, dead = mock.with_dead_letters(max_receives=2)
    sent = queue.send("poison", MessageAttributes={"kind": {"DataType": "String", "StringValue": "bad"}})
    for count in ["1", "2"]:
        message = only(queue.receive())
        equal(message["Attributes"]["ApproximateReceiveCount"], count)
        mock.advance(30)
    equal((queue.counts(), dead.counts()), ((1, 0, 0), (0, 0, 0)))
    equal(queue.receive(), [])
    equal((queue.counts(), dead.counts()), ((0, 0, 0), (1, 0, 0)))
    dead_letter = only(dead.receive())
    equal((dead_letter["MessageId"], dead_letter["Body"]), (sent["MessageId"], "poison"))
    equal(dead_letter["MessageAttributes"]["kind"]["StringValue"], "bad")
    equal(dead_letter["Attributes"]["ApproximateReceiveCount"], "3")
    equal(dead_letter["Attributes"]["DeadLetterQueueSourceArn"], queue.arn)
    for unchanged in ["SentTimestamp", "ApproximateFirstReceiveTimestamp"]:
        equal(dead_letter["Attributes"][unchanged], message["Attributes"][unchanged])


def dead_letter_queue_lists_its_sources(mock):
    queue, dead = mock.with_dead_letters()
    other, _ = mock.with_dead_letters(dead=dead)
    sources = mock.sqs.list_dead_letter_source_queues(QueueUrl=dead.url)["queueUrls"]
    equal(sorted(sources), sorted([queue.url, other.url]))
    other.set(RedrivePolicy="")
    equal(mock.sqs.list_dead_letter_source_queues(QueueUrl=dead.url)["queueUrls"], [queue.url])


def receive_skips_dead_letters_and_returns_other_messages(mock):
    queue, dead = mock.with_dead_letters(VisibilityTimeout="0")
    queue.send("old")
    equal(queue.bodies(), ["old"])
    queue.send("new")
    equal(queue.bodies(), ["new"])
    equal(queue.bodies(), [])
    equal(sorted(dead.bodies()), ["new", "old"])


def fifo_dead_letter_keeps_its_group_and_unlocks_the_next_message(mock):
    queue, dead = mock.with_dead_letters(fifo=True)
    first = queue.send("1", group="g")
    queue.send("2", group="g")
    equal(queue.bodies(max_messages=1), ["1"])
    equal(queue.receive(), [])
    mock.advance(30)
    equal(queue.bodies(), ["2"])
    dead_letter = only(dead.receive())
    equal((dead_letter["Body"], dead_letter["MessageId"]), ("1", first["MessageId"]))
    attributes = dead_letter["Attributes"]
    equal((attributes["MessageGroupId"], attributes["ApproximateReceiveCount"]), ("g", "2"))
    equal(attributes["MessageDeduplicationId"], first["MessageId"])
    equal(attributes["DeadLetterQueueSourceArn"], queue.arn)


def retention_of_dead_letters_starts_at_the_send_and_on_fifo_at_the_move(mock):
    days = 24 * 3600
    for fifo, left in [(False, 0), (True, 1)]:
        queue, dead = mock.with_dead_letters(fifo=fifo, VisibilityTimeout="0")
        queue.send("x", group="g" if fifo else None)
        only(queue.receive())
        mock.advance(3 * days)
        equal(queue.receive(), [])
        equal(dead.counts()[0], 1)
        mock.advance(1 * days)
        equal(dead.counts()[0], left)


def messages_stay_if_the_dead_letter_queue_is_deleted(mock):
    queue, dead = mock.with_dead_letters(VisibilityTimeout="0")
    mock.sqs.delete_queue(QueueUrl=dead.url)
    queue.send("x")
    counts = [only(queue.receive())["Attributes"]["ApproximateReceiveCount"] for _ in range(3)]
    equal(counts, ["1", "2", "3"])


def dead_letter_queue_must_have_the_same_type(mock):
    fifo = mock.fifo()
    queue = mock.queue()
    policy = f'{{"deadLetterTargetArn":"{fifo.arn}","maxReceiveCount":1}}'
    rejected("InvalidParameterValue", queue.set, RedrivePolicy=policy)
    equal("RedrivePolicy" in queue.attributes("All"), False)
