// Topics and subscriptions: names, attributes, tags, lists and deletion; and the identity of the caller.
import { NotFoundException, paginateListSubscriptionsByTopic, paginateListTopics, ResourceNotFoundException } from "@aws-sdk/client-sns";
import assert from "node:assert/strict";
import { equal, rejected } from "./checks.js";
import { Queue } from "./queue.js";
import { invalid, RAW, Topic } from "./topic.js";

export async function identity({ sts }) {
  const { Account, UserId, Arn } = await sts.getCallerIdentity({});
  equal([Account, UserId, Arn], ["000000000000", "000000000000", "arn:aws:iam::000000000000:root"]);
}

export async function names({ sns }, fifo) {
  const topic = await Topic.make(sns, "names", fifo, { DisplayName: "Names" });
  equal(topic.arn, `arn:aws:sns:us-east-1:000000000000:${topic.name}`);
  equal((await Topic.make(sns, "names", fifo)).arn, topic.arn);
  const listed = [];
  for await (const page of paginateListTopics({ client: sns }, {})) {
    listed.push(...page.Topics.map(({ TopicArn }) => TopicArn));
  }
  assert.ok(listed.includes(topic.arn), `expected ${topic.arn} in ${listed}`);
  await invalid("Attributes Reason: Topic already exists with different attributes", () =>
    Topic.make(sns, "names", fifo, { DisplayName: "Other" }));
  await invalid("Topic Name", () => Topic.make(sns, "no spaces", fifo));
  await topic.delete();
  await topic.delete();
  equal((await Topic.make(sns, "names", fifo)).arn, topic.arn);
}

export async function attributes({ sns }, fifo) {
  const topic = await Topic.make(sns, "attributes", fifo);
  const TopicArn = topic.arn;
  await sns.setTopicAttributes({ TopicArn, AttributeName: "DisplayName", AttributeValue: "é & <b>" });
  const all = await topic.attributes();
  equal(Object.keys(all).length, fifo ? 10 : 8);
  equal([all.DisplayName, all.FifoTopic], ["é & <b>", fifo ? "true" : undefined]);
  await invalid("AttributeName", () =>
    sns.setTopicAttributes({ TopicArn, AttributeName: "Colour", AttributeValue: "red" }));
  const stage = { Key: "stage", Value: "" };
  await sns.tagResource({ ResourceArn: TopicArn, Tags: [{ Key: "team", Value: "a & b" }, stage] });
  await sns.untagResource({ ResourceArn: TopicArn, TagKeys: ["team"] });
  equal((await sns.listTagsForResource({ ResourceArn: TopicArn })).Tags, [stage]);
  equal(await rejected(ResourceNotFoundException, "ResourceNotFound", 404, () =>
    sns.listTagsForResource({ ResourceArn: `${TopicArn}-nowhere` })), "Resource does not exist");
}

export async function subscriptions({ sns, sqs }, fifo) {
  const topic = await Topic.make(sns, "subscriptions", fifo);
  const queue = await Queue.target(sqs, "subscribed", fifo);
  const Endpoint = await queue.arn();
  const TopicArn = topic.arn;
  const SubscriptionArn = await topic.subscribe(Endpoint, RAW);
  equal(await topic.subscribe(Endpoint), SubscriptionArn);
  const listed = [];
  for await (const page of paginateListSubscriptionsByTopic({ client: sns }, { TopicArn })) {
    listed.push(...page.Subscriptions);
  }
  equal(listed, [{ SubscriptionArn, TopicArn, Endpoint, Protocol: "sqs", Owner: "000000000000" }]);
  const { Attributes } = await sns.getSubscriptionAttributes({ SubscriptionArn });
  equal([Attributes.PendingConfirmation, Attributes.RawMessageDelivery], ["false", "true"]);
  await sns.unsubscribe({ SubscriptionArn });
  await sns.unsubscribe({ SubscriptionArn });
  await topic.publish("x");
  equal(await queue.receive(), []);
  equal((await sns.listSubscriptionsByTopic({ TopicArn })).Subscriptions, []);
  equal(await rejected(NotFoundException, "NotFound", 404, () =>
    sns.getSubscriptionAttributes({ SubscriptionArn })), "Subscription does not exist");
}

export async function rejections({ sns, sqs }, fifo) {
  const topic = await Topic.make(sns, "rejections", fifo);
  const arn = await (await Queue.target(sqs, "rejected", fifo)).arn();
  const reasons = [
    [{ kind: "tea" }, '"kind" must be an object or an array'],
    [{ kind: [] }, "Empty arrays are not allowed"],
    [{ kind: [{ like: "t" }] }, "Unrecognized match type like"],
    [{ price: [{ numeric: [">", 3, "<", 1] }] }, "Bottom must be less than top"],
  ];
  for (const [policy, reason] of reasons) {
    const FilterPolicy = JSON.stringify(policy);
    await invalid(`Attributes Reason: FilterPolicy: ${reason}`, () => topic.subscribe(arn, { FilterPolicy }));
  }
  const SubscriptionArn = await topic.subscribe(arn);
  for (const [policy, reason] of reasons) {
    const change = { AttributeName: "FilterPolicy", AttributeValue: JSON.stringify(policy) };
    await invalid(`FilterPolicy: ${reason}`, () => sns.setSubscriptionAttributes({ SubscriptionArn, ...change }));
  }
  await invalid("Attributes Reason: Subscription already exists with different attributes", () => topic.subscribe(arn, RAW));
  await invalid("SQS endpoint ARN", () => topic.subscribe("queue"));
  if (!fifo) {
    const text = "Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics";
    await invalid(text, () => topic.subscribe(`${arn}.fifo`));
  }
}

export async function missing({ sns }, fifo) {
  const topic = await Topic.make(sns, "missing", fifo);
  await topic.delete();
  const calls = [
    () => topic.attributes(),
    () => topic.publish("x"),
    () => topic.subscribe("arn:aws:sqs:us-east-1:000000000000:javascript-missing"),
    () => sns.listSubscriptionsByTopic({ TopicArn: topic.arn }),
  ];
  for (const call of calls) {
    equal(await rejected(NotFoundException, "NotFound", 404, call), "Topic does not exist");
  }
}
