"""The clients of the tours of topics and S3 events, with queues, topics and subscriptions.

The first argument of a tour is the endpoint.
"""

import json
import sys

import boto3
from botocore.config import Config

from checks import rejected

ENDPOINT = sys.argv[1]
# SNS and S3 need such a policy to send to a queue.
POLICY = {
    "Version": "2012-10-17",
    "Statement": {
        "Effect": "Allow",
        "Principal": {"Service": ["sns.amazonaws.com", "s3.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": "*",
    },
}


def client(service, endpoint=ENDPOINT, key="test", secret="test"):
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=key,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )


sns, sqs = client("sns"), client("sqs")


class Queue:
    """A new queue to which SNS and S3 may send."""

    def __init__(self, name, **attributes):
        policy = {"Policy": json.dumps(POLICY)}
        self.url = sqs.create_queue(QueueName=name, Attributes={**policy, **attributes})["QueueUrl"]
        got = sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])
        self.arn = got["Attributes"]["QueueArn"]

    def receive(self, wait=0):
        """Receives at most ten messages, and deletes them."""
        names = {"AttributeNames": ["All"], "MessageAttributeNames": ["All"]}
        received = sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10, WaitTimeSeconds=wait, **names)
        messages = received.get("Messages", [])
        for message in messages:
            sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return messages

    def bodies(self):
        return [message["Body"] for message in self.receive()]

    def all_messages(self):
        messages = []
        while received := self.receive():
            messages += received
        return messages


def topic(name, **attributes):
    return sns.create_topic(Name=name, Attributes=attributes)["TopicArn"]


def subscribe(topic, queue_arn, **attributes):
    """Subscribes a queue. Values of attributes are texts, or JSON values."""
    texts = {name: text if isinstance(text, str) else json.dumps(text) for name, text in attributes.items()}
    answer = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue_arn, Attributes=texts)
    return answer["SubscriptionArn"]


def invalid(text, call, **arguments):
    """Asserts that SNS rejects a call with `InvalidParameter` and this text."""
    error = sns.exceptions.InvalidParameterException
    rejected(error, 400, "InvalidParameter", f"Invalid parameter: {text}", call, **arguments)
