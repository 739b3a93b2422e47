"""AWS's library for Python: `send MODE FILE`, or `receive MODE FILE`, which deletes the message too."""

import os
import sys

import boto3
import sqs_extended_client  # noqa: F401: it extends the client of boto3


def main():
    action, mode, path = sys.argv[1:]
    sqs = boto3.client("sqs")
    sqs.large_payload_support = os.environ["BUCKET"]
    sqs.use_legacy_attribute = mode == "legacy"
    # Without this it leaves the payload of a deleted message where it is.
    sqs.delete_payload_from_s3 = True
    queue = os.environ["QUEUE_URL"]
    if action == "send":
        with open(path, encoding="utf-8", newline="") as file:
            sqs.send_message(QueueUrl=queue, MessageBody=file.read())
        return
    answer = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5, MessageAttributeNames=["All"])
    (message,) = answer["Messages"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(message["Body"])
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])


main()
