"""Message move tasks."""

from checks import equal, eventually, only, rejected

NOT_FOUND = "ResourceNotFoundException"


def with_dead_letters_of(mock, count, fifo=False):
    """Creates a queue, and its dead-letter queue with this number of messages. Returns both."""
    queue, dead = mock.with_dead_letters(fifo=fifo, VisibilityTimeout="0")
    for number in range(count):
        queue.send(str(number), group=str(number) if fifo else None)
    while queue.receive():
        pass
    equal(dead.counts(), (count, 0, 0))
    return queue, dead


def start(mock, dead, **more):
    return mock.sqs.start_message_move_task(SourceArn=dead.arn, **more)["TaskHandle"]


def tasks(mock, dead, max_results=10):
    return mock.sqs.list_message_move_tasks(SourceArn=dead.arn, MaxResults=max_results).get("Results", [])


def ended(mock, dead):
    """Waits until the latest task has ended, and returns it."""
    return eventually(lambda: [task for task in tasks(mock, dead, 1) if task["Status"] != "RUNNING"])[0]


def moved(mock, dead, count):
    """Waits until the latest task has moved this number of messages. A task counts a message after its move."""
    eventually(lambda: tasks(mock, dead, 1)[0]["ApproximateNumberOfMessagesMoved"] == count)


def task_moves_messages_to_their_source_queue_with_new_ids(mock):
    for fifo in [False, True]:
        queue, dead = with_dead_letters_of(mock, 3, fifo)
        dead_letter = only(dead.receive(max_messages=1, VisibilityTimeout=0))
        mock.advance(60)
        start(mock, dead)
        task = ended(mock, dead)
        equal((task["Status"], task["SourceArn"]), ("COMPLETED", dead.arn))
        equal((task["ApproximateNumberOfMessagesMoved"], task["ApproximateNumberOfMessagesToMove"]), (3, 3))
        equal("DestinationArn" in task, False)
        equal((dead.counts(), queue.counts()), ((0, 0, 0), (3, 0, 0)))
        message = only([found for found in queue.receive() if found["Body"] == dead_letter["Body"]])
        assert message["MessageId"] != dead_letter["MessageId"]
        equal(message["Attributes"]["ApproximateReceiveCount"], "1")
        equal(int(message["Attributes"]["SentTimestamp"]) - int(dead_letter["Attributes"]["SentTimestamp"]), 60_000)


def task_moves_messages_to_the_given_destination(mock):
    queue, dead = with_dead_letters_of(mock, 2)
    other = mock.queue()
    dead.send("sent here by hand")
    start(mock, dead, DestinationArn=other.arn)
    equal(ended(mock, dead)["DestinationArn"], other.arn)
    equal(sorted(other.bodies()), ["0", "1", "sent here by hand"])
    equal((dead.counts(), queue.counts()), ((0, 0, 0), (0, 0, 0)))


def task_fails_for_a_message_without_a_source(mock):
    _, dead = mock.with_dead_letters()
    dead.send("sent here by hand")
    start(mock, dead)
    task = ended(mock, dead)
    equal((task["Status"], task["FailureReason"]), ("FAILED", "CouldNotDetermineMessageSource"))
    equal(dead.counts(), (1, 0, 0))


def task_moves_messages_at_its_maximum_rate(mock):
    queue, dead = with_dead_letters_of(mock, 5)
    start(mock, dead, MaxNumberOfMessagesPerSecond=2)
    for count, seconds in [(1, 0.4), (1, 0.1), (2, 0.5), (3, 1)]:
        moved(mock, dead, count)
        equal((queue.counts()[0], tasks(mock, dead)[0]["Status"]), (count, "RUNNING"))
        mock.advance(seconds)
    equal(ended(mock, dead)["Status"], "COMPLETED")
    equal((dead.counts(), queue.counts()), ((0, 0, 0), (5, 0, 0)))


def cancelled_task_stops_and_keeps_moved_messages(mock):
    queue, dead = with_dead_letters_of(mock, 5)
    handle = start(mock, dead, MaxNumberOfMessagesPerSecond=1)
    mock.advance(1)
    moved(mock, dead, 2)
    equal(mock.sqs.cancel_message_move_task(TaskHandle=handle)["ApproximateNumberOfMessagesMoved"], 2)
    task = eventually(lambda: [task for task in tasks(mock, dead) if task["Status"] == "CANCELLED"])[0]
    equal((task["ApproximateNumberOfMessagesMoved"], "TaskHandle" in task), (2, False))
    mock.advance(10)
    equal((dead.counts(), queue.counts()), ((3, 0, 0), (2, 0, 0)))
    rejected("InvalidParameterValue", mock.sqs.cancel_message_move_task, TaskHandle="garbage")


def task_fails_when_its_destination_is_deleted(mock):
    _, dead = with_dead_letters_of(mock, 3)
    other = mock.queue()
    start(mock, dead, DestinationArn=other.arn, MaxNumberOfMessagesPerSecond=1)
    eventually(lambda: other.counts()[0] == 1)
    mock.sqs.delete_queue(QueueUrl=other.url)
    mock.advance(1)
    task = ended(mock, dead)
    equal((task["Status"], task["ApproximateNumberOfMessagesMoved"]), ("FAILED", 1))
    equal(task["FailureReason"], "AWS.SimpleQueueService.NonExistentQueue")
    equal(dead.counts(), (2, 0, 0))


def only_one_task_runs_and_the_newest_is_listed_first(mock):
    _, dead = with_dead_letters_of(mock, 3)
    handle = start(mock, dead, MaxNumberOfMessagesPerSecond=1)
    rejected("InvalidParameterValue", start, mock=mock, dead=dead)
    mock.sqs.cancel_message_move_task(TaskHandle=handle)
    ended(mock, dead)
    eventually(lambda: tasks(mock, dead)[0]["Status"] == "CANCELLED")
    mock.advance(5)
    second = start(mock, dead, MaxNumberOfMessagesPerSecond=1)
    assert second != handle
    newest, older = tasks(mock, dead)
    equal((newest["TaskHandle"], newest["Status"], older["Status"]), (second, "RUNNING", "CANCELLED"))
    equal(newest["StartedTimestamp"] - older["StartedTimestamp"], 5000)
    equal(newest["MaxNumberOfMessagesPerSecond"], 1)
    equal(only(tasks(mock, dead, max_results=1))["TaskHandle"], second)


def source_must_be_an_existing_dead_letter_queue(mock):
    queue, dead = mock.with_dead_letters()
    rejected("InvalidParameterValue", start, mock=mock, dead=queue)
    rejected(NOT_FOUND, mock.sqs.start_message_move_task, SourceArn=dead.arn + "-not")
    rejected(NOT_FOUND, start, mock=mock, dead=dead, DestinationArn=dead.arn + "-not")
