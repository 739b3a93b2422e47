"""The server in the hand of a scenario: a client, the clock, faults, and queues of its own."""

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

# Attempts follow each other at once. Everything else about retries is botocore's own.
botocore.endpoint.time = types.SimpleNamespace(sleep=lambda seconds: None, time=time.time)

NUMBERS = itertools.count(1)
# As short as sleeping may be, as long as a request over the loopback interface takes at most.
A_MOMENT = 0.05
AT_ONCE = 5


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
        spoken = self.sqs.meta.service_model.metadata["protocol"]
        assert spoken == protocol, spoken
        self.call("POST", "clock", {"frozen": True})

    def call(self, method, path, content=None):
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{self.endpoint}/_mock/{path}", data=body, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def advance(self, seconds):
        self.call("POST", "clock", {"advance": seconds})

    def now_ms(self):
        return self.call("GET", "clock")["now_ms"]

    def fault(self, effect, **more):
        """Injects a fault. Returns a function that returns its number of hits."""
        number = self.call("POST", "faults", {"effect": effect, **more})["id"]
        return lambda: only([fault for fault in self.call("GET", "faults") if fault["id"] == number])["hits"]

    def no_faults(self):
        self.call("DELETE", "faults")

    def queue(self, **attributes):
        return Queue(self.sqs, f"scenario-{next(NUMBERS)}", attributes)

    def fifo(self, **attributes):
        return Queue(self.sqs, f"scenario-{next(NUMBERS)}.fifo", {"FifoQueue": "true", **attributes})

    def with_dead_letters(self, most=1, fifo=False, dead=None, **attributes):
        """A queue whose messages are received that often at most, and the queue that they go to then."""
        make = self.fifo if fifo else self.queue
        dead = dead or make()
        policy = json.dumps({"deadLetterTargetArn": dead.arn, "maxReceiveCount": most})
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
        """Visible, in flight, delayed."""
        kinds = ["", "NotVisible", "Delayed"]
        shown = self.attributes("All")
        return tuple(int(shown[f"ApproximateNumberOfMessages{kind}"]) for kind in kinds)

    def send(self, body, group=None, once=None, **more):
        if group:
            more["MessageGroupId"] = group
            more["MessageDeduplicationId"] = once or f"{group}-{body}"
        return self.sqs.send_message(QueueUrl=self.url, MessageBody=body, **more)

    def receive(self, most=10, **more):
        answer = self.sqs.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=most,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
            **more,
        )
        return answer.get("Messages", [])

    def bodies(self, most=10, **more):
        return [message["Body"] for message in self.receive(most, **more)]

    def hide(self, message, seconds):
        handle = message["ReceiptHandle"]
        self.sqs.change_message_visibility(QueueUrl=self.url, ReceiptHandle=handle, VisibilityTimeout=seconds)

    def delete(self, message):
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def poll(self, **more):
        return Poll(self, more)


class Poll:
    """A long poll in a thread. The clock stands still, so that by itself it never ends."""

    def __init__(self, queue, more):
        self.answer = None
        self.thread = threading.Thread(target=self.run, args=(queue, more), daemon=True)
        self.thread.start()
        time.sleep(A_MOMENT)
        self.still_waits()

    def run(self, queue, more):
        try:
            self.answer = queue.receive(**{"WaitTimeSeconds": 20, **more})
        except Exception as error:
            self.answer = error

    def still_waits(self):
        assert self.thread.is_alive(), self.answer

    def messages(self):
        self.thread.join(AT_ONCE)
        assert not self.thread.is_alive(), "the poll does not end"
        assert isinstance(self.answer, list), self.answer
        return self.answer

    def bodies(self):
        return [message["Body"] for message in self.messages()]
