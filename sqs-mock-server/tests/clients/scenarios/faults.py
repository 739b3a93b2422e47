"""Injected faults, and how boto3 handles them. The client makes three attempts."""

import json
import urllib.error

from botocore.parsers import ResponseParserError

from checks import equal, only, rejected

SEND = ["SendMessage"]


def throttled_send_is_retried(mock):
    queue = mock.queue()
    hits = mock.fault("throttle", actions=SEND, queue=queue.name, times=2)
    sent = queue.send("x")
    equal((hits(), sent["ResponseMetadata"]["RetryAttempts"]), (2, 2))
    equal(queue.bodies(), ["x"])


def permanently_throttled_send_fails(mock):
    queue = mock.queue()
    hits = mock.fault("throttle", queue=queue.name, actions=SEND)
    rejected("RequestThrottled", queue.send, body="x")
    equal((hits(), queue.counts()), (3, (0, 0, 0)))


def service_failure_is_retried(mock):
    queue = mock.queue()
    hits = mock.fault("error", code="InternalFailure", queue=queue.name, actions=SEND, times=1)
    queue.send("x")
    busy = mock.fault("status", status=503, body="<html>busy</html>", queue=queue.name, actions=SEND, times=1)
    queue.send("y")
    equal((hits(), busy(), queue.counts()), (1, 1, (2, 0, 0)))


def reset_before_the_request_costs_only_an_attempt(mock):
    queue = mock.queue()
    hits = mock.fault("reset_before", actions=SEND, queue=queue.name, times=2)
    queue.send("x")
    equal((hits(), queue.counts()), (2, (1, 0, 0)))


def lost_response_causes_a_duplicate_on_a_standard_queue(mock):
    queue = mock.queue()
    hits = mock.fault("reset_after", actions=SEND, queue=queue.name, times=1)
    queue.send("x")
    first, second = queue.receive()
    equal((hits(), first["Body"], second["Body"]), (1, "x", "x"))
    assert first["MessageId"] != second["MessageId"]


def lost_response_causes_no_duplicate_on_a_fifo_queue(mock):
    queue = mock.fifo()
    hits = mock.fault("reset_after", actions=SEND, queue=queue.name, times=2)
    sent = queue.send("x", group="g", deduplication_id="x")
    equal((hits(), queue.counts()), (2, (1, 0, 0)))
    equal(only(queue.receive())["MessageId"], sent["MessageId"])


def messages_of_a_lost_receive_return_after_the_visibility_timeout(mock):
    queue = mock.queue()
    queue.send("x")
    mock.fault("reset_after", actions=["ReceiveMessage"], queue=queue.name, times=1)
    equal(queue.bodies(), [])
    equal(queue.counts(), (0, 1, 0))
    mock.advance(30)
    equal(only(queue.receive())["Attributes"]["ApproximateReceiveCount"], "2")


def lost_receive_is_repeated_with_its_attempt_id(mock):
    queue = mock.fifo()
    queue.send("x", group="g")
    mock.fault("reset_after", actions=["ReceiveMessage"], queue=queue.name, times=1)
    # boto3 does not generate an attempt id. With one, the retry gets the messages of the lost response.
    equal(queue.bodies(ReceiveRequestAttemptId="try"), ["x"])


def truncated_response_is_an_error_or_has_no_members(mock):
    queue = mock.queue()
    mock.fault("truncate", actions=SEND, queue=queue.name, times=1)
    # botocore does not check the length. The XML parser fails, the JSON parser returns an empty response.
    try:
        equal("MessageId" in queue.send("x"), False)
    except ResponseParserError as error:
        assert "invalid XML" in str(error), error
    equal(queue.counts(), (1, 0, 0))


def injected_entry_failure_does_not_affect_other_entries(mock):
    queue = mock.queue()
    mock.fault(
        "fail_entries", code="InternalFailure", message="No beans.", body_contains="coffee", queue=queue.name
    )
    entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(["tea", "coffee", "milk"])]
    response = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    failed = only(response["Failed"])
    equal((failed["Id"], failed["Message"], failed["SenderFault"]), ("1", "No beans.", False))
    equal(sorted(queue.bodies()), ["milk", "tea"])


def entry_can_be_missing_from_the_response(mock):
    queue = mock.queue()
    mock.fault("omit_entries", entries=[0], queue=queue.name)
    entries = [{"Id": body, "MessageBody": body} for body in "ab"]
    response = mock.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    equal((only(response["Successful"])["Id"], "Failed" in response), ("b", False))
    equal(queue.counts(), (2, 0, 0))


def corrupted_checksum_differs_from_that_of_the_body(mock):
    queue = mock.queue()
    mock.fault("corrupt", actions=SEND, queue=queue.name, times=1)
    wrong, right = queue.send("x")["MD5OfMessageBody"], queue.send("x")["MD5OfMessageBody"]
    equal((wrong != right, len(wrong)), (True, 32))


def redelivered_message_is_received_twice(mock):
    queue = mock.queue()
    queue.send("x")
    hits = mock.fault("redeliver", queue=queue.name, times=1)
    equal([queue.bodies(), queue.bodies(), queue.bodies()], [["x"], ["x"], []])
    equal(hits(), 1)


def invalid_fault_is_rejected_with_a_reason(mock):
    try:
        mock.fault("explode")
    except urllib.error.HTTPError as error:
        equal(error.code, 400)
        assert "unknown variant `explode`" in json.load(error)["error"]
    else:
        raise AssertionError("the server accepted an unknown fault")
