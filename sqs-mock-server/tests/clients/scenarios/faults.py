"""Failures on demand, and what boto3 makes of them. It tries three times."""

import json
import urllib.error

from botocore.parsers import ResponseParserError

from checks import equal, only, refused

SEND = ["SendMessage"]


def throttled_send_is_tried_again(mock):
    queue = mock.queue()
    hits = mock.fault("throttle", actions=SEND, queue=queue.name, times=2)
    sent = queue.send("x")
    equal((hits(), sent["ResponseMetadata"]["RetryAttempts"]), (2, 2))
    equal(queue.bodies(), ["x"])


def send_that_is_throttled_for_ever_fails(mock):
    queue = mock.queue()
    hits = mock.fault("throttle", queue=queue.name, actions=SEND)
    refused("RequestThrottled", queue.send, body="x")
    equal((hits(), queue.counts()), (3, (0, 0, 0)))


def failure_of_the_service_is_tried_again(mock):
    queue = mock.queue()
    hits = mock.fault("error", code="InternalFailure", queue=queue.name, actions=SEND, times=1)
    queue.send("x")
    busy = mock.fault("status", status=503, body="<html>busy</html>", queue=queue.name, actions=SEND, times=1)
    queue.send("y")
    equal((hits(), busy(), queue.counts()), (1, 1, (2, 0, 0)))


def reset_before_anything_is_done_costs_an_attempt_and_nothing_else(mock):
    queue = mock.queue()
    hits = mock.fault("reset_before", actions=SEND, queue=queue.name, times=2)
    queue.send("x")
    equal((hits(), queue.counts()), (2, (1, 0, 0)))


def lost_answer_duplicates_on_a_standard_queue(mock):
    queue = mock.queue()
    hits = mock.fault("reset_after", actions=SEND, queue=queue.name, times=1)
    queue.send("x")
    first, second = queue.receive()
    equal((hits(), first["Body"], second["Body"]), (1, "x", "x"))
    assert first["MessageId"] != second["MessageId"]


def lost_answer_does_not_duplicate_on_a_fifo_queue(mock):
    queue = mock.fifo()
    hits = mock.fault("reset_after", actions=SEND, queue=queue.name, times=2)
    sent = queue.send("x", group="g", once="x")
    equal((hits(), queue.counts()), (2, (1, 0, 0)))
    equal(only(queue.receive())["MessageId"], sent["MessageId"])


def messages_of_a_lost_receive_come_again_when_their_visibility_runs_out(mock):
    queue = mock.queue()
    queue.send("x")
    mock.fault("reset_after", actions=["ReceiveMessage"], queue=queue.name, times=1)
    equal(queue.bodies(), [])
    equal(queue.counts(), (0, 1, 0))
    mock.advance(30)
    equal(only(queue.receive())["Attributes"]["ApproximateReceiveCount"], "2")


def lost_receive_is_replayed_by_its_attempt_id(mock):
    queue = mock.fifo()
    queue.send("x", group="g")
    mock.fault("reset_after", actions=["ReceiveMessage"], queue=queue.name, times=1)
    # boto3 makes up no attempt id; with one, the second try gets what the first did not bring.
    equal(queue.bodies(ReceiveRequestAttemptId="try"), ["x"])


def half_an_answer_is_an_error_or_one_without_members(mock):
    queue = mock.queue()
    mock.fault("truncate", actions=SEND, queue=queue.name, times=1)
    # botocore does not compare lengths. What the XML parser notices, the JSON parser takes for an answer.
    try:
        equal("MessageId" in queue.send("x"), False)
    except ResponseParserError as error:
        assert "invalid XML" in str(error), error
    equal(queue.counts(), (1, 0, 0))


def entries_fail_one_by_one_and_the_others_are_stored(mock):
    queue = mock.queue()
    mock.fault(
        "fail_entries", code="InternalFailure", message="No beans.", body_contains="coffee", queue=queue.name
    )
    entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(["tea", "coffee", "milk"])]
    answer = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    failed = only(answer["Failed"])
    equal((failed["Id"], failed["Message"], failed["SenderFault"]), ("1", "No beans.", False))
    equal(sorted(queue.bodies()), ["milk", "tea"])


def entries_can_be_missing_from_the_answer(mock):
    queue = mock.queue()
    mock.fault("omit_entries", entries=[0], queue=queue.name)
    entries = [{"Id": body, "MessageBody": body} for body in "ab"]
    answer = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    equal((only(answer["Successful"])["Id"], "Failed" in answer), ("b", False))
    equal(queue.counts(), (2, 0, 0))


def corrupted_checksum_is_not_that_of_the_body(mock):
    queue = mock.queue()
    mock.fault("corrupt", actions=SEND, queue=queue.name, times=1)
    wrong, right = queue.send("x")["MD5OfMessageBody"], queue.send("x")["MD5OfMessageBody"]
    equal((wrong != right, len(wrong)), (True, 32))


def redelivered_message_comes_a_second_time(mock):
    queue = mock.queue()
    queue.send("x")
    hits = mock.fault("redeliver", queue=queue.name, times=1)
    equal([queue.bodies(), queue.bodies(), queue.bodies()], [["x"], ["x"], []])
    equal(hits(), 1)


def faults_over_http_say_what_is_wrong_with_them(mock):
    try:
        mock.fault("explode")
    except urllib.error.HTTPError as error:
        equal(error.code, 400)
        assert "unknown variant `explode`" in json.load(error)["error"]
    else:
        raise AssertionError("a fault that is none was taken")
