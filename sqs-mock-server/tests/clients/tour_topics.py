"""Tests topics, subscriptions and the identity of the caller with boto3: `tour_topics.py ENDPOINT`."""

import json
import re

import boto3

from checks import equal, rejected
from clients import Queue, client, invalid, sns, subscribe, topic

ARN = "arn:aws:sns:us-east-1:000000000000:"


def unknown(text, call, **arguments):
    """Asserts that SNS rejects a call with `NotFound` and this text."""
    rejected(sns.exceptions.NotFoundException, 404, "NotFound", text, call, **arguments)


def identity_has_the_account_of_the_key():
    for key, secret, account in [("test", "test", "000000000000"), ("123456789012", "x", "123456789012")]:
        identity = client("sts", key=key, secret=secret).get_caller_identity()
        equal((identity["Account"], identity["UserId"]), (account, account))
        equal(identity["Arn"], f"arn:aws:iam::{account}:root")


def topic_is_created_once():
    tags = [{"Key": "team", "Value": "a & b"}]
    equal(sns.create_topic(Name="tour", Attributes={"DisplayName": "Tour"}, Tags=tags)["TopicArn"], ARN + "tour")
    equal(topic("tour"), ARN + "tour")
    equal(topic("tour", DisplayName="Tour"), ARN + "tour")
    equal(sns.list_tags_for_resource(ResourceArn=ARN + "tour")["Tags"], tags)
    text = "Attributes Reason: Topic already exists with different attributes"
    invalid(text, topic, name="tour", DisplayName="other")
    invalid("Topic Name", topic, name="no spaces")
    invalid("Topic Name", topic, name="tour", FifoTopic="true")
    for _ in range(2):
        equal(topic("tour.fifo", FifoTopic="true"), ARN + "tour.fifo")
    attributes = sns.get_topic_attributes(TopicArn=ARN + "tour.fifo")["Attributes"]
    equal((attributes["FifoTopic"], attributes["ContentBasedDeduplication"]), ("true", "false"))


def attributes_tags_and_permissions_are_kept():
    arn = topic("kept")
    sns.set_topic_attributes(TopicArn=arn, AttributeName="DisplayName", AttributeValue="é & <b>")
    attributes = sns.get_topic_attributes(TopicArn=arn)["Attributes"]
    equal((attributes["DisplayName"], attributes["Owner"], len(attributes)), ("é & <b>", "000000000000", 8))
    invalid("AttributeName", sns.set_topic_attributes, TopicArn=arn, AttributeName="Colour", AttributeValue="red")
    sns.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "a & b"}, {"Key": "stage", "Value": ""}])
    sns.untag_resource(ResourceArn=arn, TagKeys=["team"])
    equal(sns.list_tags_for_resource(ResourceArn=arn)["Tags"], [{"Key": "stage", "Value": ""}])
    sns.add_permission(TopicArn=arn, Label="writer", AWSAccountId=["123456789012"], ActionName=["Publish"])
    policy = json.loads(sns.get_topic_attributes(TopicArn=arn)["Attributes"]["Policy"])
    equal((policy["Statement"][1]["Sid"], policy["Statement"][1]["Action"]), ("writer", "SNS:Publish"))
    sns.remove_permission(TopicArn=arn, Label="writer")
    error, call = sns.exceptions.ResourceNotFoundException, sns.list_tags_for_resource
    rejected(error, 404, "ResourceNotFound", "Resource does not exist", call, ResourceArn=arn + "-nowhere")


def topics_and_subscriptions_are_listed_in_pages():
    arns = {topic(f"page-{number}") for number in range(101)}
    pages = [page["Topics"] for page in sns.get_paginator("list_topics").paginate()]
    equal(len(pages[0]), 100)
    assert arns < {listed["TopicArn"] for page in pages for listed in page}, pages
    first, second = sorted(arns)[:2]
    for number in range(101):
        subscribe(first, f"arn:aws:sqs:us-east-1:000000000000:nowhere-{number}")
    pages = sns.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=first)
    equal([len(page["Subscriptions"]) for page in pages], [100, 1])
    equal(sns.list_subscriptions_by_topic(TopicArn=second)["Subscriptions"], [])


def subscription_is_listed_until_it_ends():
    arn, queue = topic("listed"), Queue("listed")
    subscription = subscribe(arn, queue.arn)
    assert re.fullmatch(re.escape(arn) + ":[0-9a-f-]{36}", subscription), subscription
    equal(subscribe(arn, queue.arn), subscription)
    text = "Attributes Reason: Subscription already exists with different attributes"
    invalid(text, subscribe, topic=arn, queue_arn=queue.arn, RawMessageDelivery="true")
    expected = {"SubscriptionArn": subscription, "TopicArn": arn, "Protocol": "sqs", "Endpoint": queue.arn}
    listed = sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    equal(listed, [{**expected, "Owner": "000000000000"}])
    attributes = sns.get_subscription_attributes(SubscriptionArn=subscription)["Attributes"]
    equal({name: attributes[name] for name in expected}, expected)
    equal((attributes["PendingConfirmation"], attributes["RawMessageDelivery"]), ("false", "false"))
    for _ in range(2):
        sns.unsubscribe(SubscriptionArn=subscription)
    sns.publish(TopicArn=arn, Message="x")
    equal(queue.receive(), [])
    unknown("Subscription does not exist", sns.get_subscription_attributes, SubscriptionArn=subscription)
    raw = {"AttributeName": "RawMessageDelivery", "AttributeValue": "true"}
    unknown("Subscription does not exist", sns.set_subscription_attributes, SubscriptionArn=subscription, **raw)


def invalid_attributes_of_subscriptions_are_refused():
    arn, queue = topic("refused"), Queue("refused")
    rows = [
        ("FilterPolicy", {"kind": "tea"}, '"kind" must be an object or an array'),
        ("FilterPolicy", {"kind": []}, "Empty arrays are not allowed"),
        ("FilterPolicy", {"kind": [{"like": "t"}]}, "Unrecognized match type like"),
        ("FilterPolicy", {"price": [{"numeric": [">", 3, "<", 1]}]}, "Bottom must be less than top"),
        ("FilterPolicy", dict.fromkeys("abcdef", ["x"]), "Filter policy can not have more than 5 keys"),
        ("RawMessageDelivery", "yes", "Invalid value [yes]. Must be true or false."),
        ("RedrivePolicy", {"deadLetterTargetArn": "dead"}, "deadLetterTargetArn is an invalid arn"),
    ]
    for name, value, reason in rows:
        text = f"Attributes Reason: {name}: {reason}"
        invalid(text, subscribe, topic=arn, queue_arn=queue.arn, **{name: value})
    change = {"SubscriptionArn": subscribe(arn, queue.arn)}
    for name, value, reason in rows:
        change |= {"AttributeName": name, "AttributeValue": value if isinstance(value, str) else json.dumps(value)}
        invalid(f"{name}: {reason}", sns.set_subscription_attributes, **change)
    fifo = Queue("refused.fifo", FifoQueue="true")
    text = "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics"
    invalid(text, subscribe, topic=arn, queue_arn=fifo.arn)


def deleted_topic_is_not_found():
    arn, queue = topic("deleted"), Queue("deleted")
    subscribe(arn, queue.arn)
    for _ in range(2):
        sns.delete_topic(TopicArn=arn)
    calls = [
        (sns.publish, {"Message": "x"}),
        (sns.get_topic_attributes, {}),
        (sns.list_subscriptions_by_topic, {}),
        (sns.subscribe, {"Protocol": "sqs", "Endpoint": queue.arn}),
    ]
    for call, arguments in calls:
        unknown("Topic does not exist", call, TopicArn=arn, **arguments)
    equal(topic("deleted"), arn)
    equal(sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"], [])


TOUR = [
    identity_has_the_account_of_the_key,
    topic_is_created_once,
    attributes_tags_and_permissions_are_kept,
    topics_and_subscriptions_are_listed_in_pages,
    subscription_is_listed_until_it_ends,
    invalid_attributes_of_subscriptions_are_refused,
    deleted_topic_is_not_found,
]
for step in TOUR:
    step()
print(f"ok: topics, boto3 {boto3.__version__}")
