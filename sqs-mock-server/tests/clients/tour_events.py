"""Tests S3 events with boto3: `tour_events.py ENDPOINT S3_ENDPOINT`."""

import io
import json
import sys
from urllib.parse import unquote_plus

import boto3

from checks import equal, only, rejected
from clients import Queue, client, sns, subscribe, topic

BUCKET = "events"
s3 = client("s3", sys.argv[2])
s3.create_bucket(Bucket=BUCKET)


def notify(*rules, kind="Queue", **more):
    s3.put_bucket_notification_configuration(
        Bucket=BUCKET, NotificationConfiguration={f"{kind}Configurations": list(rules)}, **more
    )


def rule(arn, events, kind="Queue", **filters):
    """A rule for keys with a prefix or suffix."""
    rows = [{"Name": name, "Value": value} for name, value in filters.items()]
    return {"Id": f"{kind} rule", f"{kind}Arn": arn, "Events": events, "Filter": {"Key": {"FilterRules": rows}}}


def event(queue):
    """Waits for an event. Returns its name, key, size and ETag."""
    record = only(json.loads(only(queue.receive(wait=5))["Body"])["Records"])
    equal((record["eventSource"], record["awsRegion"], record["s3"]["bucket"]["name"]), ("aws:s3", "us-east-1", BUCKET))
    changed = record["s3"]["object"]
    return record["eventName"], unquote_plus(changed["key"]), changed.get("size"), changed.get("eTag")


def configuration_is_returned_and_tested():
    queue = Queue("configured")
    given = rule(queue.arn, ["s3:ObjectCreated:*", "s3:ObjectRemoved:*"], prefix="in/", suffix=".csv")
    notify(given)
    got = only(s3.get_bucket_notification_configuration(Bucket=BUCKET)["QueueConfigurations"])
    for row in got["Filter"]["Key"]["FilterRules"]:
        row["Name"] = row["Name"].lower()
    equal(got, given)
    message = json.loads(only(queue.receive(wait=5))["Body"])
    equal((message["Service"], message["Event"], message["Bucket"]), ("Amazon S3", "s3:TestEvent", BUCKET))
    notify()
    assert "QueueConfigurations" not in s3.get_bucket_notification_configuration(Bucket=BUCKET)


def queue_gets_the_events_of_its_keys():
    queue = Queue("uploads")
    created = rule(queue.arn, ["s3:ObjectCreated:*", "s3:ObjectRemoved:Delete"], prefix="in/", suffix=".csv")
    notify(created, SkipDestinationValidation=True)
    for key in ("in/a.txt", "out/a.csv", "in/ä b+c.csv"):
        put = s3.put_object(Bucket=BUCKET, Key=key, Body=b"a,b\n")
    equal(event(queue), ("ObjectCreated:Put", "in/ä b+c.csv", 4, put["ETag"].strip('"')))
    s3.upload_fileobj(io.BytesIO(bytes(9_000_000)), BUCKET, "in/big.csv")
    etag = s3.head_object(Bucket=BUCKET, Key="in/big.csv")["ETag"].strip('"')
    assert etag.endswith("-2"), etag
    equal(event(queue), ("ObjectCreated:CompleteMultipartUpload", "in/big.csv", 9_000_000, etag))
    s3.delete_object(Bucket=BUCKET, Key="in/big.csv")
    equal(event(queue), ("ObjectRemoved:Delete", "in/big.csv", None, None))
    s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "in/ä b+c.csv"}, {"Key": "in/a.txt"}]})
    equal(event(queue), ("ObjectRemoved:Delete", "in/ä b+c.csv", None, None))
    equal(queue.receive(), [])


def topic_gets_events_for_its_queues():
    arn, queue = topic("uploads"), Queue("from-topic")
    subscribe(arn, queue.arn)
    notify(rule(arn, ["s3:ObjectCreated:Put"], "Topic"), kind="Topic", SkipDestinationValidation=True)
    s3.put_object(Bucket=BUCKET, Key="a", Body=b"tea")
    envelope = json.loads(only(queue.receive(wait=5))["Body"])
    equal((envelope["TopicArn"], envelope["Subject"]), (arn, "Amazon S3 Notification"))
    equal(json.loads(envelope["Message"])["Records"][0]["s3"]["object"]["key"], "a")
    sns.delete_topic(TopicArn=arn)


def invalid_configurations_are_refused():
    queue, fifo = Queue("rejected"), Queue("rejected.fifo", FifoQueue="true")
    created = ["s3:ObjectCreated:*"]
    unusable = "Unable to validate the following destination configurations"
    rows = [
        ("InvalidArgument", unusable, rule(queue.arn + "-nowhere", created)),
        ("InvalidArgument", "The ARN could not be parsed", rule("queue", created)),
        ("InvalidArgument", "FIFO SQS queues are not supported.", rule(fifo.arn, created)),
        ("InvalidArgument", "The event is not supported for notifications", rule(queue.arn, ["s3:ObjectRead"])),
    ]
    for code, text, wrong in rows:
        rejected(s3.exceptions.ClientError, 400, code, text, lambda: notify(wrong))


TOUR = [
    configuration_is_returned_and_tested,
    queue_gets_the_events_of_its_keys,
    topic_gets_events_for_its_queues,
    invalid_configurations_are_refused,
]
for step in TOUR:
    step()
print(f"ok: S3 events, boto3 {boto3.__version__}")
