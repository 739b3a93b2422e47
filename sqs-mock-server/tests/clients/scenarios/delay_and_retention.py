"""Messages that come later, and messages that go by themselves."""

from checks import equal, only, refused

DAY = 24 * 3600


def delayed_message_comes_when_its_delay_is_over(mock):
    queue = mock.queue(DelaySeconds="60")
    queue.send("as the queue says")
    queue.send("at once", DelaySeconds=0)
    queue.send("late", DelaySeconds=900)
    equal(queue.counts(), (1, 0, 2))
    equal(queue.bodies(), ["at once"])
    mock.advance(59)
    equal(queue.counts()[2], 2)
    mock.advance(1)
    assert "as the queue says" in queue.bodies()
    mock.advance(839)
    assert "late" not in queue.bodies()
    mock.advance(1)
    assert "late" in queue.bodies()


def delay_of_a_standard_queue_is_that_at_the_send(mock):
    queue = mock.queue(DelaySeconds="10")
    queue.send("1")
    queue.set(DelaySeconds="0")
    queue.send("2")
    equal(queue.bodies(), ["2"])
    mock.advance(10)
    equal(queue.bodies(), ["1"])


def delay_of_a_fifo_queue_holds_for_what_is_in_it(mock):
    queue = mock.fifo(DelaySeconds="100")
    queue.send("1", group="g")
    equal(queue.receive(), [])
    queue.set(DelaySeconds="0")
    equal(queue.bodies(), ["1"])
    refused("InvalidParameterValue", queue.send, body="2", group="g", DelaySeconds=5)


def first_receive_is_after_the_delay_and_the_send_before_it(mock):
    queue = mock.queue()
    start = mock.now_ms()
    queue.send("x", DelaySeconds=30)
    mock.advance(45)
    attributes = only(queue.receive())["Attributes"]
    equal(int(attributes["SentTimestamp"]) - start, 0)
    equal(int(attributes["ApproximateFirstReceiveTimestamp"]) - start, 45_000)


def message_goes_after_fourteen_days_even_in_flight(mock):
    queue = mock.queue(MessageRetentionPeriod=str(14 * DAY))
    queue.send("waits")
    mock.advance(14 * DAY - 60)
    queue.send("is younger")
    flying = [message for message in queue.receive(VisibilityTimeout=3600) if message["Body"] == "waits"]
    equal(queue.counts(), (0, 2, 0))
    mock.advance(60)
    equal(queue.counts(), (0, 1, 0))
    # Deleting what has gone is no error, and what is gone cannot be hidden.
    refused("InvalidParameterValue", queue.hide, message=flying[0], seconds=10)
    queue.delete(only(flying))


def retention_is_four_days_unless_said(mock):
    queue = mock.queue()
    queue.send("x")
    mock.advance(4 * DAY - 1)
    equal(queue.counts(), (1, 0, 0))
    mock.advance(1)
    equal(queue.counts(), (0, 0, 0))
    equal(queue.receive(), [])


def purge_takes_all_that_is_there_and_asks_for_a_minute_of_patience(mock):
    queue = mock.queue()
    for body, delay in [("visible", 0), ("in flight", 0), ("delayed", 60)]:
        queue.send(body, DelaySeconds=delay)
    only(queue.receive(most=1))
    equal(queue.counts(), (1, 1, 1))
    mock.sqs.purge_queue(QueueUrl=queue.url)
    equal(queue.counts(), (0, 0, 0))
    queue.send("new")
    refused("AWS.SimpleQueueService.PurgeQueueInProgress", mock.sqs.purge_queue, QueueUrl=queue.url)
    mock.advance(60)
    equal(queue.bodies(), ["new"])
    mock.sqs.purge_queue(QueueUrl=queue.url)


def name_of_a_deleted_queue_is_free_after_a_minute(mock):
    queue = mock.queue()
    queue.send("x")
    mock.sqs.delete_queue(QueueUrl=queue.url)
    code = "AWS.SimpleQueueService.QueueDeletedRecently"
    refused(code, mock.sqs.create_queue, QueueName=queue.name)
    mock.advance(60)
    equal(mock.sqs.create_queue(QueueName=queue.name)["QueueUrl"], queue.url)
    equal(queue.counts(), (0, 0, 0))
