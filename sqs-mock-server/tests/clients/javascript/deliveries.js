// What topics deliver to queues.
import {
  BatchEntryIdsNotDistinctException,
  EmptyBatchRequestException,
  InvalidBatchEntryIdException,
  InvalidParameterValueException,
  TooManyEntriesInBatchRequestException,
} from "@aws-sdk/client-sns";
import { equal, only, rejected } from "./checks.js";
import { ATTRIBUTES, Queue } from "./queue.js";
import { invalid, RAW, Topic } from "./topic.js";

const BODY = '{"order":"№ 42 – žluťoučký","n":1}\r\n\t<end/>';

// An envelope and a raw message have all that was published.
export async function envelopes({ sns, sqs }, fifo) {
  const topic = await Topic.make(sns, "deliveries", fifo);
  const [enveloped, raw] = [await Queue.target(sqs, "enveloped", fifo), await Queue.target(sqs, "raw", fifo)];
  await topic.subscribe(await enveloped.arn());
  await topic.subscribe(await raw.arn(), RAW);
  const published = await topic.publish(BODY, { Subject: "tea & more", MessageAttributes: ATTRIBUTES });

  let message = only(await enveloped.receive());
  equal(message.MessageAttributes, undefined);
  const envelope = JSON.parse(message.Body);
  // FIFO topics do not sign.
  const [number, signature] = [["SequenceNumber"], ["SignatureVersion", "Signature", "SigningCertURL"]];
  equal(Object.keys(envelope), ["Type", "MessageId", ...(fifo ? number : []), "TopicArn", "Subject", "Message", "Timestamp",
    ...(fifo ? [] : signature), "UnsubscribeURL", "MessageAttributes"]);
  const { Type, MessageId, TopicArn, Subject, Message, SequenceNumber } = envelope;
  equal([Type, MessageId, TopicArn, Subject, Message], ["Notification", published.MessageId, topic.arn, "tea & more", BODY]);
  equal(SequenceNumber, published.SequenceNumber);
  const shown = Object.entries(ATTRIBUTES).map(([name, { DataType, StringValue, BinaryValue }]) =>
    [name, { Type: DataType, Value: StringValue ?? Buffer.from(BinaryValue).toString("base64") }]);
  equal(envelope.MessageAttributes, Object.fromEntries(shown));

  message = only(await raw.receive());
  equal(message.Body, BODY);
  equal(message.MessageAttributes, ATTRIBUTES);
}

export async function filters({ sns, sqs }) {
  const topic = await Topic.make(sns, "filters", false);
  const queues = [await Queue.target(sqs, "every"), await Queue.target(sqs, "cheap"), await Queue.target(sqs, "tea")];
  const [every, cheap, tea] = await Promise.all(queues.map((queue) => queue.arn()));
  const cheapOnly = { price: [{ numeric: ["<", 5] }], sold: [{ exists: false }] };
  const teaOnly = { order: { kind: [{ prefix: "te" }] } };
  await topic.subscribe(every, RAW);
  await topic.subscribe(cheap, { ...RAW, FilterPolicy: JSON.stringify(cheapOnly) });
  await topic.subscribe(tea, { ...RAW, FilterPolicyScope: "MessageBody", FilterPolicy: JSON.stringify(teaOnly) });
  const bodies = ["tea", "coffee", "water"].map((kind) => JSON.stringify({ order: { kind } }));
  const prices = ["3", "4.50", "9"];
  const { Successful, Failed } = await topic.publishBatch(bodies.map((Message, at) => (
    { Id: `${at}`, Message, MessageAttributes: { price: { DataType: "Number", StringValue: prices[at] } } })));
  equal([Successful.length, Failed], [3, []]);
  const received = await Promise.all(queues.map((queue) => queue.bodies()));
  equal(received, [bodies, bodies.slice(0, 2), bodies.slice(0, 1)]);
  const texts = { default: "{}", sqs: '{"order":{"kind":"tee"}}' };
  await topic.publish(JSON.stringify(texts), { MessageStructure: "json" });
  equal(await queues[2].bodies(), [texts.sqs]);
}

export async function undeliverable({ sns, sqs }, fifo) {
  const topic = await Topic.make(sns, "undeliverable", fifo);
  const dead = await Queue.target(sqs, "undeliverable", fifo);
  const deadLetterTargetArn = await dead.arn();
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn });
  await topic.subscribe(deadLetterTargetArn.replace("javascript-", "javascript-nowhere-"), { ...RAW, RedrivePolicy });
  await topic.publish("lost", { MessageAttributes: ATTRIBUTES });
  const message = only(await dead.receive());
  equal([message.Body, message.MessageAttributes], ["lost", ATTRIBUTES]);
}

// The order of groups over a batch, and duplicates.
export async function order({ sns, sqs }) {
  const topic = await Topic.make(sns, "order", true);
  const raw = await Queue.target(sqs, "topic-order-1", true);
  const enveloped = await Queue.target(sqs, "topic-order-2", true);
  await topic.subscribe(await raw.arn(), RAW);
  await topic.subscribe(await enveloped.arn());
  const batch = entries("a1", "a2", "b1", "a3", "b2");
  const { Successful } = await topic.publishBatch(batch);
  equal((await topic.publishBatch(batch)).Successful, Successful);
  const first = await topic.publish("g1", { MessageDeduplicationId: "once" });
  const again = await topic.publish("g2", { MessageDeduplicationId: "once" });
  equal([again.MessageId, again.SequenceNumber], [first.MessageId, first.SequenceNumber]);
  const expected = { a: ["a1", "a2", "a3"], b: ["b1", "b2"], g: ["g1"] };
  equal(byGroup(await raw.bodies()), expected);
  equal(byGroup((await enveloped.bodies()).map((body) => JSON.parse(body).Message)), expected);
}

export async function rejections({ sns }, fifo) {
  const topic = await Topic.make(sns, "publish-rejections", fifo);
  await invalid("Empty message", () => topic.publish(""));
  await invalid("Message too long", () => topic.publish("x".repeat(262_145)));
  const MessageAttributes = { a: { DataType: "String", StringValue: "" } };
  await rejected(InvalidParameterValueException, "ParameterValueInvalid", 400, () =>
    topic.publish("x", { MessageAttributes }));
  const [text, wrong] = fifo
    ? ["The MessageGroupId parameter is required for FIFO topics", { MessageGroupId: undefined }]
    : ["MessageDeduplicationId Reason: The request includes", { MessageDeduplicationId: "once" }];
  await invalid(text, () => topic.publish("x", wrong));
  const batches = [
    [TooManyEntriesInBatchRequestException, entries(..."abcdefghijk")],
    [BatchEntryIdsNotDistinctException, entries("a", "a")],
    [InvalidBatchEntryIdException, entries("not an id")],
    [EmptyBatchRequestException, []],
  ];
  for (const [type, wrong] of batches) {
    await rejected(type, type.name.replace("Exception", ""), 400, () => topic.publishBatch(wrong));
  }
}

// Entries whose text is the id, and whose group is the first letter.
function entries(...texts) {
  return texts.map((text) => ({ Id: text, Message: text, MessageGroupId: text[0] }));
}

function byGroup(texts) {
  const groups = {};
  for (const text of texts) {
    (groups[text[0]] ??= []).push(text);
  }
  return groups;
}
