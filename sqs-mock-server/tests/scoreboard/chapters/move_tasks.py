"""Tasks that move messages out of dead-letter queues."""

import base64
import json
import time

from codes import ANY, NO_RESOURCE, PARAMETER
from rows import DOCUMENTED, RECORDED, Chapter
from session import equal

CHAPTER = Chapter("Message move tasks")


def with_messages(s, count):
    """The ARNs of a source, of its dead-letter queue with messages, and the URLs of both."""
    source, dead = s.with_dead_letters()
    for number in range(count):
        s.send(source, str(number))
    s.eventually(lambda: s.receive(source) is not None and s.counts(dead)[0] == count)
    return s.arn(source), s.arn(dead), source, dead


def begin(s, source, **members):
    return s.done("StartMessageMoveTask", SourceArn=source, **members)["TaskHandle"]


def tasks(s, source):
    return s.done("ListMessageMoveTasks", SourceArn=source, MaxResults=10).get("Results", [])


def newest(s, source, status):
    return s.eventually(lambda: [task for task in tasks(s, source)[:1] if task["Status"] == status])[0]


@CHAPTER.row("A task returns messages to the queue that they came from", DOCUMENTED)
def _(s):
    _, arn, source, dead = with_messages(s, 3)
    begin(s, arn)
    newest(s, arn, "COMPLETED")
    s.settles(source, (3, 0, 0))
    s.settles(dead, (0, 0, 0))


@CHAPTER.row("A task moves messages to its destination", DOCUMENTED)
def _(s):
    _, arn, _, dead = with_messages(s, 2)
    other = s.queue()
    begin(s, arn, DestinationArn=s.arn(other))
    newest(s, arn, "COMPLETED")
    s.settles(other, (2, 0, 0))
    s.settles(dead, (0, 0, 0))


@CHAPTER.row("A finished task lists its members, without a handle", DOCUMENTED)
def _(s):
    _, arn, *_ = with_messages(s, 1)
    begin(s, arn)
    task = newest(s, arn, "COMPLETED")
    equal((task["SourceArn"], task["ApproximateNumberOfMessagesMoved"]), (arn, 1))
    assert not {"TaskHandle", "FailureReason"} & set(task), task
    assert abs(task["StartedTimestamp"] / 1000 - time.time()) < 600, task


@CHAPTER.row("A running task lists its handle and rate", DOCUMENTED)
def _(s):
    _, arn, *_ = with_messages(s, 4)
    handle = begin(s, arn, MaxNumberOfMessagesPerSecond=1)
    task = newest(s, arn, "RUNNING")
    equal((task["TaskHandle"], task["MaxNumberOfMessagesPerSecond"]), (handle, 1))


@CHAPTER.row("A source has one active task", DOCUMENTED)
def _(s):
    _, arn, *_ = with_messages(s, 4)
    begin(s, arn, MaxNumberOfMessagesPerSecond=1)
    s.refused("StartMessageMoveTask", PARAMETER, SourceArn=arn)


@CHAPTER.row("A cancelled task ends and undoes nothing", DOCUMENTED)
def _(s):
    _, arn, source, dead = with_messages(s, 5)
    handle = begin(s, arn, MaxNumberOfMessagesPerSecond=1)
    assert isinstance(s.done("CancelMessageMoveTask", TaskHandle=handle)["ApproximateNumberOfMessagesMoved"], int)
    task = newest(s, arn, "CANCELLED")
    count = task["ApproximateNumberOfMessagesMoved"]
    assert count < 5, task
    equal((s.counts(source)[0], s.counts(dead)[0]), (count, 5 - count))


@CHAPTER.row("A task handle is base64 of JSON with taskId and sourceArn", RECORDED)
def _(s):
    _, arn, *_ = with_messages(s, 1)
    handle = json.loads(base64.b64decode(begin(s, arn)))
    equal((sorted(handle), handle["sourceArn"]), (["sourceArn", "taskId"], arn))


@CHAPTER.row("ListMessageMoveTasks returns the newest task first, one by default", DOCUMENTED)
def _(s):
    _, arn, *_ = with_messages(s, 1)
    begin(s, arn)
    newest(s, arn, "COMPLETED")
    time.sleep(0.05)
    begin(s, arn)
    newest(s, arn, "COMPLETED")
    times = s.eventually(lambda: [task["StartedTimestamp"] for task in tasks(s, arn)])
    equal((len(times), times), (2, sorted(times, reverse=True)))
    equal(len(s.done("ListMessageMoveTasks", SourceArn=arn)["Results"]), 1)


def a_source(s):
    return {"SourceArn": s.arn(s.queue())}


def an_unknown_source(s):
    return {"SourceArn": s.arn(s.queue()) + "-not"}


def a_dead_letter_queue(s):
    return {"SourceArn": s.arn(s.with_dead_letters()[1])}


NOT_THERE = "The resource that you specified for the SourceArn parameter doesn't exist."
START, LIST, CANCEL = "StartMessageMoveTask", "ListMessageMoveTasks", "CancelMessageMoveTask"
CHAPTER.refusals(a_source, ("A source that is no dead-letter queue", DOCUMENTED, START, {}, PARAMETER))
CHAPTER.refusals(
    an_unknown_source,
    ("An unknown source", DOCUMENTED, START, {}, NO_RESOURCE, NOT_THERE, RECORDED),
    ("An unknown source of a list", DOCUMENTED, LIST, {}, NO_RESOURCE),
)
CHAPTER.refusals(
    a_dead_letter_queue,
    ("A rate of 0", DOCUMENTED, START, {"MaxNumberOfMessagesPerSecond": 0}, ANY),
    ("A rate of 501", DOCUMENTED, START, {"MaxNumberOfMessagesPerSecond": 501}, ANY),
    ("MaxResults 11", DOCUMENTED, LIST, {"MaxResults": 11}, ANY),
)


@CHAPTER.row("Refused: an unknown destination", DOCUMENTED)
def _(s):
    members = a_dead_letter_queue(s)
    arn = members["SourceArn"] + "-not"
    s.refused(START, NO_RESOURCE, DestinationArn=arn, **members)


def task_of(s):
    arn = s.arn(s.with_dead_letters()[1])
    handle = {"taskId": "00000000-0000-4000-8000-000000000000", "sourceArn": arn}
    return {"TaskHandle": base64.b64encode(json.dumps(handle).encode()).decode()}


CHAPTER.refusals(lambda s: {}, ("An invalid task handle", DOCUMENTED, CANCEL, {"TaskHandle": "x"}, PARAMETER))
CHAPTER.refusals(task_of, ("An unknown task", DOCUMENTED, CANCEL, {}, NO_RESOURCE))
