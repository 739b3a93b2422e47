"""Order in FIFO queues, locks of message groups, and repeated receives."""

import threading
import time

from codes import PARAMETER
from rows import DOCUMENTED, LOGGED, RECORDED, Chapter
from session import Session, equal

CHAPTER = Chapter("FIFO queues: receiving")


def filled(s, *messages, **attributes):
    """A queue with messages such as "a1", the first message of the group "a"."""
    url = s.fifo(**attributes)
    for message in messages:
        s.send_in(url, message[0], message)
    return url


def take(s, url, most=10, **members):
    """Receives in a long poll of a second, which is enough for every message that can be received."""
    return s.receive(url, most, WaitTimeSeconds=1, **members)


def bodies(messages):
    return [message["Body"] for message in messages]


@CHAPTER.row("A receive returns several messages of a group in order", RECORDED)
def _(s):
    equal(bodies(take(s, filled(s, "a1", "a2", "a3"))), ["a1", "a2", "a3"])


@CHAPTER.row("A receive fills from one group before the next", RECORDED)
def _(s):
    equal(bodies(take(s, filled(s, "a1", "b1", "a2"), most=2)), ["a1", "a2"])


@CHAPTER.row("A group with a message in flight is locked, others go on", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "b1")
    equal(bodies(take(s, url, most=1)), ["a1"])
    equal(bodies(take(s, url)), ["b1"])
    equal(take(s, url), [])


@CHAPTER.row("A new message does not unlock its group", RECORDED)
def _(s):
    url = filled(s, "a1")
    take(s, url)
    s.send_in(url, "a", "a2")
    equal(take(s, url), [])


@CHAPTER.row("A deletion of some messages in flight keeps the lock", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "a3")
    first, _ = take(s, url, most=2)
    s.delete(url, first)
    equal(take(s, url), [])


@CHAPTER.row("A deletion of the last message in flight unlocks the group", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "a3")
    for message in take(s, url, most=2):
        s.delete(url, message)
    equal(bodies(take(s, url)), ["a3"])


@CHAPTER.row("A deletion that unlocks a group wakes a long poll", RECORDED)
def _(s):
    url = filled(s, "a1", "a2")
    (first,) = take(s, url, most=1)
    other = Session(f"http://{s.wire.address}", s.protocol)
    timer = threading.Timer(0.7, other.delete, (url, first))
    start = time.monotonic()
    timer.start()
    equal(s.bodies(url, WaitTimeSeconds=5), ["a2"])
    timer.join()
    assert time.monotonic() - start < 3.5


@CHAPTER.row("Messages made visible return at the head, in their order", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "a3")
    for message in reversed(take(s, url, most=2)):
        s.hide(url, message, 0)
    equal(bodies(take(s, url)), ["a1", "a2", "a3"])


@CHAPTER.row("Messages whose timeout ends return at the head, in their order", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "a3")
    take(s, url, most=2, VisibilityTimeout=1)
    time.sleep(1.3)
    equal(bodies(take(s, url)), ["a1", "a2", "a3"])


@CHAPTER.row("A message with a longer timeout blocks itself and all after it", RECORDED)
def _(s):
    url = filled(s, "a1", "a2", "a3", VisibilityTimeout="1")
    _, second, _ = take(s, url)
    s.hide(url, second, 60)
    time.sleep(1.3)
    equal(bodies(take(s, url)), ["a1"])


@CHAPTER.row("A message made visible before others in flight is received", RECORDED)
def _(s):
    url = filled(s, "a1", "a2")
    first, _ = take(s, url)
    s.hide(url, first, 0)
    equal(bodies(take(s, url)), ["a1"])


@CHAPTER.row("Receives with VisibilityTimeout 0 walk round the groups", RECORDED)
def _(s):
    url = filled(s, "a1", "b1", "c1")
    found = [body for _ in range(6) for body in bodies(take(s, url, 1, VisibilityTimeout=0))]
    equal(found, ["a1", "b1", "c1", "a1", "b1", "c1"])


@CHAPTER.row("Locked messages do not count as in flight", RECORDED)
def _(s):
    url = filled(s, "a1", "a2")
    take(s, url, most=1)
    s.settles(url, (1, 1, 0))


@CHAPTER.row("A change of DelaySeconds also delays messages in the queue", DOCUMENTED)
def _(s):
    url = filled(s, "a1")
    s.set(url, DelaySeconds="60")
    equal(s.bodies(url), [])


@CHAPTER.row("A repeated attempt id gets the same messages and handles", DOCUMENTED)
def _(s):
    url = filled(s, "a1", "b1")
    first, again = (take(s, url, 1, ReceiveRequestAttemptId="one") for _ in range(2))
    equal([(m["Body"], m["ReceiptHandle"]) for m in again], [(m["Body"], m["ReceiptHandle"]) for m in first])


@CHAPTER.row("Another attempt id does not get hidden messages", DOCUMENTED)
def _(s):
    url = filled(s, "a1", "b1")
    found = [bodies(take(s, url, 1, ReceiveRequestAttemptId=attempt)) for attempt in ("one", "two")]
    equal(found, [["a1"], ["b1"]])


@CHAPTER.row("An attempt id after a deletion is InvalidParameterValue", LOGGED)
def _(s):
    url = filled(s, "a1", "b1")
    (message,) = take(s, url, 1, ReceiveRequestAttemptId="one")
    s.delete(url, message)
    s.refused("ReceiveMessage", PARAMETER, QueueUrl=url, ReceiveRequestAttemptId="one")
