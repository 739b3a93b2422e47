"""Controls the server for a scenario: a client, the clock, faults and new queues."""

import itertools
import json
import threading
import time
import types
import urllib.request

import boto3
import botocore.endpoint
from botocore.config import Config

from checks import only

# Removes the delay between attempts. All other retry behavior is that of botocore.
botocore.endpoint.time = types.SimpleNamespace(sleep=lambda seconds: None, time=time.time)

NUMBERS = itertools.count(1)
# Seconds for a request to reach the server over the loopback interface.
START_DELAY = 0.05
# Maximum seconds until a long poll ends.
TIMEOUT = 5


class Mock:
    def __init__(self, endpoint, protocol):
        self.endpoint = endpoint
        self.sqs = boto3.client(
            "sqs",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 3, "mode": "standard"}),
        )
        actual = self.sqs.meta.service_model.metadata["protocol"]
        assert actual == protocol, actual
        self.call("POST", "clock", {"frozen": True})

    def call(self, method, path, content=None):
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{self.endpoint}/_mock/{path}", data=body, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def advance(self, seconds):
        self.call("POST", "clock", {"advance": seconds})

    def now_ms(self):
        return self.call("GET", "clock")["now_ms"]

    def fault(self, effect, **more):
        """Injects a fault. Returns a function that returns the number of its hits."""
        number = self.call("POST", "faults", {"effect": effect, **more})["id"]
        return lambda: only([fault for fault in self.call("GET", "faults") if fault["id"] == number])["hits"]

    def clear_faults(self):
        self.call("DELETE", "faults")

    def queue(self, **attributes):
        return Queue(self.sqs, f"scenario-{next(NUMBERS)}", attributes)

    def fifo(self, **attributes):
        return Queue(self.sqs, f"scenario-{next(NUMBERS)}.fifo", {"FifoQueue": "true", **attributes})

    def with_dead_letters(self, max_receives=1, fifo=False, dead=None, **attributes):
        """Creates a queue with this maximum receive count, and its dead-letter queue. Returns both."""
        make = self.fifo if fifo else self.queue
        dead = dead or make()
        policy = json.dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": max_receives})
        return make(RedrivePolicy=policy, **attributes), dead


class Queue:
    def __init__(self, sqs, name, attributes):
        self.sqs, self.name = sqs, name
        self.url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        self.arn = self.attributes("QueueArn")["QueueArn"]

    def attributes(self, *names):
        return self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]

    def set(self, **attributes):
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes=attributes)

    def counts(self):
        """The numbers of visible, in-flight and delayed messages."""
        kinds = ["", "NotVisible", "Delayed"]
        shown = self.attributes("All")
        return tuple(int(shown[f"ApproximateNumberOfMessages{kind}"]) for kind in kinds)

    def send(self, body, group=None, deduplication_id=None, **more):
        if group:
            more["MessageGroupId"] = group
            more["MessageDeduplicationId"] = deduplication_id or f"{group}-{body}"
        return self.sqs.send_message(QueueUrl=self.url, MessageBody=body, **more)

    def receive(self, max_messages=10, **more):
        response = self.sqs.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=max_messages,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
            **more,
        )
        return response.get("Messages", [])

    def bodies(self, max_messages=10, **more):
        return [message["Body"] for message in self.receive(max_messages, **more)]

    def hide(self, message, seconds):
        handle = message["ReceiptHandle"]
        self.sqs.change_message_visibility(QueueUrl=self.url, ReceiptHandle=handle, VisibilityTimeout=seconds)

    def delete(self, message):
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def poll(self, **more):
        return Poll(self, more)


class Poll:
    """A long poll in a thread. It does not time out by itself, because the clock is frozen."""

    def __init__(self, queue, more):
        self.response = None
        self.thread = threading.Thread(target=self.run, args=(queue, more), daemon=True)
        self.thread.start()
        time.sleep(START_DELAY)
        self.still_waits()

    def run(self, queue, more):
        try:
            self.response = queue.receive(**{"WaitTimeSeconds": 20, **more})
        except Exception as error:
            self.response = error

    def still_waits(self):
        assert self.thread.is_alive(), self.response

    def messages(self):
        self.thread.join(TIMEOUT)
        assert not self.thread.is_alive(), f"the poll did not end within {TIMEOUT} seconds"
        assert isinstance(self.response, list), self.response
        return self.response

    def bodies(self):
        return [message["Body"] for message in self.messages()]
