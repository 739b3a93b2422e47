"""Tests the server with boto3: `tour.py ENDPOINT PROTOCOL`, where PROTOCOL is `json` or `query`.

The version of botocore determines the protocol. The argument only checks it.
"""

import json
import sys
import threading
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from checksums import of_attributes, of_body

ATTRIBUTES = {
    "text": {"DataType": "String.note", "StringValue": 'Zürich <&> "€"'},
    "number": {"DataType": "Number", "StringValue": "-1.50e3"},
    "bytes": {"DataType": "Binary.png", "BinaryValue": bytes([0, 1, 2, 254, 255])},
}
TRACE = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-5759e988-bd862e3fe1be46a994272793"}}
BODY = '{"order":"№ 42 – žluťoučký","n":1}\r\n\t<end/>'


def connect(endpoint, protocol, **more):
    client = boto3.client(
        "sqs",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
        **more,
    )
    assert client.meta.service_model.metadata["protocol"] == protocol, client.meta.service_model.metadata
    return client


def rejected(status, code, call, **arguments):
    """Asserts that a call is rejected with this code and status. Returns the error."""
    try:
        call(**arguments)
    except ClientError as error:
        response = error.response
        assert response["Error"]["Code"] == code, response
        assert response["ResponseMetadata"]["HTTPStatusCode"] == status, response
        assert response["ResponseMetadata"]["RequestId"], response
        return error
    raise AssertionError(f"{call.__name__} was not rejected with {code}")


def only(messages):
    assert len(messages) == 1, messages
    return messages[0]


def receive(sqs, url, **more):
    arguments = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"], "MaxNumberOfMessages": 10}
    messages = sqs.receive_message(QueueUrl=url, **{**arguments, **more}).get("Messages", [])
    for message in messages:
        assert message["MD5OfBody"] == of_body(message["Body"]), message
        if "MessageAttributes" in message:
            assert message["MD5OfMessageAttributes"] == of_attributes(message["MessageAttributes"]), message
    return messages


def queues(sqs):
    url = sqs.create_queue(QueueName="tour", Attributes={"DelaySeconds": "0"}, tags={"team": "a & b"})["QueueUrl"]
    assert url == sqs.create_queue(QueueName="tour")["QueueUrl"]
    assert url == sqs.get_queue_url(QueueName="tour")["QueueUrl"]
    error = rejected(
        400, "QueueAlreadyExists", sqs.create_queue, QueueName="tour", Attributes={"DelaySeconds": "9"}
    )
    assert isinstance(error, sqs.exceptions.QueueNameExists), type(error)
    for n in range(3):
        sqs.create_queue(QueueName=f"page-{n}")
    pages = sqs.get_paginator("list_queues").paginate(
        QueueNamePrefix="page-", PaginationConfig={"PageSize": 2}
    )
    assert [len(page["QueueUrls"]) for page in pages] == [2, 1]
    assert "QueueUrls" not in sqs.list_queues(QueueNamePrefix="nothing")
    return url


def attributes_and_tags(sqs, url):
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "61", "MaximumMessageSize": "4096"})
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert attributes["VisibilityTimeout"] == "61" and attributes["MaximumMessageSize"] == "4096", attributes
    assert attributes["QueueArn"] == "arn:aws:sqs:us-east-1:000000000000:tour", attributes
    assert len(attributes) == 12, sorted(attributes)
    assert "Attributes" not in sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])
    rejected(400, "InvalidAttributeName", sqs.get_queue_attributes, QueueUrl=url, AttributeNames=["Colour"])
    rejected(
        400, "InvalidAttributeValue", sqs.set_queue_attributes, QueueUrl=url, Attributes={"VisibilityTimeout": "-1"}
    )
    assert sqs.list_queue_tags(QueueUrl=url)["Tags"] == {"team": "a & b"}
    sqs.tag_queue(QueueUrl=url, Tags={"stage": "", "owner": "é"})
    sqs.untag_queue(QueueUrl=url, TagKeys=["team"])
    assert sqs.list_queue_tags(QueueUrl=url)["Tags"] == {"stage": "", "owner": "é"}
    sqs.add_permission(QueueUrl=url, Label="reader", AWSAccountIds=["123456789012"], Actions=["ReceiveMessage"])
    policy = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Policy"])["Attributes"]["Policy"]
    assert json.loads(policy)["Statement"][0]["Action"] == "SQS:ReceiveMessage", policy
    sqs.remove_permission(QueueUrl=url, Label="reader")


def messages(sqs, url):
    sent = sqs.send_message(
        QueueUrl=url, MessageBody=BODY, MessageAttributes=ATTRIBUTES, MessageSystemAttributes=TRACE
    )
    assert sent["MD5OfMessageBody"] == of_body(BODY)
    assert sent["MD5OfMessageAttributes"] == of_attributes(ATTRIBUTES)
    assert sent["MD5OfMessageSystemAttributes"] == of_attributes(TRACE)
    message = only(receive(sqs, url))
    assert message["Body"] == BODY and message["MessageId"] == sent["MessageId"], message
    assert message["MessageAttributes"] == ATTRIBUTES, message
    assert message["Attributes"]["ApproximateReceiveCount"] == "1", message
    assert message["Attributes"]["AWSTraceHeader"] == TRACE["AWSTraceHeader"]["StringValue"], message
    assert receive(sqs, url) == []
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    again = only(receive(sqs, url, MessageAttributeNames=["num.*"]))
    assert list(again["MessageAttributes"]) == ["number"], again
    assert again["Attributes"]["ApproximateReceiveCount"] == "2", again
    for _ in range(2):
        sqs.delete_message(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"])
    rejected(404, "ReceiptHandleIsInvalid", sqs.delete_message, QueueUrl=url, ReceiptHandle="garbage")
    rejected(400, "InvalidParameterValue", receive, sqs=sqs, url=url, MaxNumberOfMessages=11)
    rejected(400, "InvalidMessageContents", sqs.send_message, QueueUrl=url, MessageBody="\x01")
    rejected(400, "MissingParameter", sqs.send_message, QueueUrl=url, MessageBody="")
    rejected(400, "InvalidParameterValue", sqs.send_message, QueueUrl=url, MessageBody="x" * 4097)


def batches(sqs, url):
    entries = [{"Id": str(n), "MessageBody": f"body {n}", "MessageAttributes": ATTRIBUTES} for n in range(4)]
    sent = sqs.send_message_batch(QueueUrl=url, Entries=[*entries, {"Id": "bad", "MessageBody": "\x01"}])
    assert [entry["Id"] for entry in sent["Successful"]] == ["0", "1", "2", "3"], sent
    for entry in sent["Successful"]:
        assert entry["MD5OfMessageBody"] == of_body(f"body {entry['Id']}"), entry
        assert entry["MD5OfMessageAttributes"] == of_attributes(ATTRIBUTES), entry
    failed = only(sent["Failed"])
    assert (failed["Id"], failed["Code"], failed["SenderFault"]) == ("bad", "InvalidMessageContents", True), failed
    handles = [message["ReceiptHandle"] for message in receive(sqs, url)]
    assert len(handles) == 4, handles
    named = [{"Id": str(n), "ReceiptHandle": handle} for n, handle in enumerate(handles)]
    changed = sqs.change_message_visibility_batch(
        QueueUrl=url, Entries=[{**entry, "VisibilityTimeout": 120} for entry in named]
    )
    assert len(changed["Successful"]) == 4 and "Failed" not in changed, changed
    deleted = sqs.delete_message_batch(QueueUrl=url, Entries=[*named, {"Id": "bad", "ReceiptHandle": "garbage"}])
    assert len(deleted["Successful"]) == 4, deleted
    assert only(deleted["Failed"])["Code"] == "ReceiptHandleIsInvalid", deleted
    prefix = "AWS.SimpleQueueService."
    rejected(400, prefix + "EmptyBatchRequest", sqs.send_message_batch, QueueUrl=url, Entries=[])
    many = [{"Id": str(n), "MessageBody": "x"} for n in range(11)]
    rejected(400, prefix + "TooManyEntriesInBatchRequest", sqs.send_message_batch, QueueUrl=url, Entries=many)
    twice = [{"Id": "a", "MessageBody": "x"}] * 2
    rejected(400, prefix + "BatchEntryIdsNotDistinct", sqs.send_message_batch, QueueUrl=url, Entries=twice)


def long_poll(sqs, url):
    timer = threading.Timer(0.2, sqs.send_message, kwargs={"QueueUrl": url, "MessageBody": "wake up"})
    timer.start()
    start = time.monotonic()
    assert only(receive(sqs, url, WaitTimeSeconds=20))["Body"] == "wake up"
    assert 0.1 < time.monotonic() - start < 5
    timer.join()


def purge(sqs, url):
    sqs.send_message(QueueUrl=url, MessageBody="x")
    sqs.purge_queue(QueueUrl=url)
    assert receive(sqs, url) == []
    rejected(403, "AWS.SimpleQueueService.PurgeQueueInProgress", sqs.purge_queue, QueueUrl=url)


def fifo(sqs):
    attributes = {"FifoQueue": "true", "ContentBasedDeduplication": "true"}
    url = sqs.create_queue(QueueName="tour.fifo", Attributes=attributes)["QueueUrl"]
    rejected(400, "MissingParameter", sqs.send_message, QueueUrl=url, MessageBody="x")
    numbers = []
    for group, body in [("a", "1"), ("a", "2"), ("b", "3")]:
        sent = sqs.send_message(
            QueueUrl=url, MessageBody=body, MessageGroupId=group, MessageAttributes=ATTRIBUTES
        )
        assert sent["MD5OfMessageAttributes"] == of_attributes(ATTRIBUTES)
        numbers.append(sent["SequenceNumber"])
        repeated = sqs.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=group)
        assert repeated["MessageId"] == sent["MessageId"], repeated
    assert numbers == sorted(numbers) and {len(number) for number in numbers} == {20}, numbers
    first = only(receive(sqs, url, MaxNumberOfMessages=1))
    assert (first["Body"], first["Attributes"]["MessageGroupId"]) == ("1", "a"), first
    # Group a is locked by its first message.
    other = only(receive(sqs, url))
    assert other["Body"] == "3", other
    assert receive(sqs, url) == []
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    assert only(receive(sqs, url))["Body"] == "2"
    sqs.delete_queue(QueueUrl=url)


def dead_letters(sqs):
    dead = sqs.create_queue(QueueName="tour-dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})
    attributes = {"RedrivePolicy": policy, "VisibilityTimeout": "0"}
    source = sqs.create_queue(QueueName="tour-source", Attributes=attributes)["QueueUrl"]
    assert sqs.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"] == [source]
    sqs.send_message(QueueUrl=source, MessageBody="poison")
    only(receive(sqs, source))
    assert receive(sqs, source) == []
    assert only(receive(sqs, dead, VisibilityTimeout=0))["Attributes"]["DeadLetterQueueSourceArn"].endswith(":tour-source")
    assert sqs.start_message_move_task(SourceArn=arn)["TaskHandle"]
    task = only(sqs.list_message_move_tasks(SourceArn=arn)["Results"])
    assert task["SourceArn"] == arn and task["Status"] in ("RUNNING", "COMPLETED"), task
    assert only(receive(sqs, source, WaitTimeSeconds=5))["Body"] == "poison"
    rejected(400, "InvalidParameterValue", sqs.cancel_message_move_task, TaskHandle="garbage")


def unknown_queue(sqs, endpoint):
    url = f"{endpoint}/000000000000/nowhere"
    code = "AWS.SimpleQueueService.NonExistentQueue"
    error = rejected(400, code, sqs.send_message, QueueUrl=url, MessageBody="x")
    assert isinstance(error, sqs.exceptions.QueueDoesNotExist), type(error)
    rejected(400, code, sqs.get_queue_url, QueueName="nowhere")


def other_account_and_region(endpoint):
    other = boto3.client(
        "sqs", endpoint_url=endpoint, region_name="eu-west-1", aws_access_key_id="123456789012", aws_secret_access_key="x"
    )
    assert other.create_queue(QueueName="tour")["QueueUrl"] == f"{endpoint}/123456789012/tour"
    assert only(other.list_queues()["QueueUrls"])


def main(endpoint, protocol):
    sqs = connect(endpoint, protocol)
    url = queues(sqs)
    assert url == f"{endpoint}/000000000000/tour", url
    attributes_and_tags(sqs, url)
    messages(sqs, url)
    batches(sqs, url)
    long_poll(sqs, url)
    purge(sqs, url)
    fifo(sqs)
    dead_letters(sqs)
    unknown_queue(sqs, endpoint)
    other_account_and_region(endpoint)
    sqs.delete_queue(QueueUrl=url)
    print(f"ok: boto3 {boto3.__version__}, protocol {protocol}")


main(*sys.argv[1:])
