"""A worker with a planted mistake, which passes its test: `pytest test_worker.py` against any SQS.

`sqs-mock-server explore -- pytest test_worker.py` finds the schedule that breaks it.
"""

import boto3
from botocore.config import Config

ORDERS = {"tea", "coffee", "soup"}


def retried(call, **parameters):
    """What this test itself asks of SQS must arrive."""
    for _ in range(10):
        try:
            return call(**parameters)
        except Exception as error:
            print(f"again, after {error}")
    raise AssertionError("SQS is away")


def is_empty(sqs, queue):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    return not any(int(count) for count in counts.values())


def work(sqs, queue, charged):
    """Charges orders until there are none."""
    while not is_empty(sqs, queue):
        received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        for message in received.get("Messages", []):
            # The mistake: it deletes the message, and then charges.
            sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
            charged.add(message["Body"])


def test_each_order_is_charged():
    # Without retries, one lost response is enough.
    sqs = boto3.client("sqs", config=Config(retries={"total_max_attempts": 1}))
    queue = sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "1"})["QueueUrl"]
    for order in ORDERS:
        retried(sqs.send_message, QueueUrl=queue, MessageBody=order)
    charged = set()
    # The worker starts again after an error.
    retried(work, sqs=sqs, queue=queue, charged=charged)
    assert charged == ORDERS
