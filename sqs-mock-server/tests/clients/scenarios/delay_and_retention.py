"""Delays, retention, purge, and deleted queues."""

from checks import equal, only, rejected

DAY = 24 * 3600


def delayed_message_becomes_visible_after_its_delay(mock):
    queue = mock.queue(DelaySeconds="60")
    queue.send("delay of the queue")
    queue.send("no delay", DelaySeconds=0)
    queue.send("late", DelaySeconds=900)
    equal(queue.counts(), (1, 0, 2))
    equal(queue.bodies(), ["no delay"])
    mock.advance(59)
    equal(queue.counts()[2], 2)
    mock.advance(1)
    assert "delay of the queue" in queue.bodies()
    mock.advance(839)
    assert "late" not in queue.bodies()
    mock.advance(1)
    assert "late" in queue.bodies()


def delay_change_of_a_standard_queue_does_not_affect_stored_messages(mock):
    queue = mock.queue(DelaySeconds="10")
    queue.send("1")
    queue.set(DelaySeconds="0")
    queue.send("2")
    equal(queue.bodies(), ["2"])
    mock.advance(10)
    equal(queue.bodies(), ["1"])


def delay_change_of_a_fifo_queue_affects_stored_messages(mock):
    queue = mock.fifo(DelaySeconds="100")
    queue.send("1", group="g")
    equal(queue.receive(), [])
    queue.set(DelaySeconds="0")
    equal(queue.bodies(), ["1"])
    rejected("InvalidParameterValue", queue.send, body="2", group="g", DelaySeconds=5)


def first_receive_timestamp_includes_the_delay_and_sent_timestamp_does_not(mock):
    queue = mock.queue()
    start = mock.now_ms()
    queue.send("x", DelaySeconds=30)
    mock.advance(45)
    attributes = only(queue.receive())["Attributes"]
    equal(int(attributes["SentTimestamp"]) - start, 0)
    equal(int(attributes["ApproximateFirstReceiveTimestamp"]) - start, 45_000)


def message_in_flight_expires_after_fourteen_days(mock):
    queue = mock.queue(MessageRetentionPeriod=str(14 * DAY))
    queue.send("waits")
    mock.advance(14 * DAY - 60)
    queue.send("is younger")
    in_flight = [message for message in queue.receive(VisibilityTimeout=3600) if message["Body"] == "waits"]
    equal(queue.counts(), (0, 2, 0))
    mock.advance(60)
    equal(queue.counts(), (0, 1, 0))
    # A delete of an expired message succeeds, but its visibility cannot be changed.
    rejected("InvalidParameterValue", queue.hide, message=in_flight[0], seconds=10)
    queue.delete(only(in_flight))


def default_retention_is_four_days(mock):
    queue = mock.queue()
    queue.send("x")
    mock.advance(4 * DAY - 1)
    equal(queue.counts(), (1, 0, 0))
    mock.advance(1)
    equal(queue.counts(), (0, 0, 0))
    equal(queue.receive(), [])


def purge_deletes_all_messages_and_is_rejected_again_for_a_minute(mock):
    queue = mock.queue()
    for body, delay in [("visible", 0), ("in flight", 0), ("delayed", 60)]:
        queue.send(body, DelaySeconds=delay)
    only(queue.receive(max_messages=1))
    equal(queue.counts(), (1, 1, 1))
    mock.sqs.purge_queue(QueueUrl=queue.url)
    equal(queue.counts(), (0, 0, 0))
    queue.send("new")
    rejected("AWS.SimpleQueueService.PurgeQueueInProgress", mock.sqs.purge_queue, QueueUrl=queue.url)
    mock.advance(60)
    equal(queue.bodies(), ["new"])
    mock.sqs.purge_queue(QueueUrl=queue.url)


def name_of_a_deleted_queue_is_available_after_a_minute(mock):
    queue = mock.queue()
    queue.send("x")
    mock.sqs.delete_queue(QueueUrl=queue.url)
    code = "AWS.SimpleQueueService.QueueDeletedRecently"
    rejected(code, mock.sqs.create_queue, QueueName=queue.name)
    mock.advance(60)
    equal(mock.sqs.create_queue(QueueName=queue.name)["QueueUrl"], queue.url)
    equal(queue.counts(), (0, 0, 0))
