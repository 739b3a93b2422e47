// Batches in which a single entry may fail.
import {
  BatchEntryIdsNotDistinct,
  BatchRequestTooLong,
  EmptyBatchRequest,
  InvalidBatchEntryId,
  TooManyEntriesInBatchRequest,
} from "@aws-sdk/client-sqs";
import { checksum, equal, only, rejected } from "./checks.js";
import { ATTRIBUTES, Queue } from "./queue.js";

export async function entries({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "batches", fifo);
  const QueueUrl = queue.url;
  const sent = await send(queue, [...named("0", "1", "2", "3"), entry("bad", "\u0001")]);
  equal(sent.Successful.map((entry) => entry.Id), ["0", "1", "2", "3"]);
  equal(new Set(sent.Successful.map((entry) => entry.MD5OfMessageAttributes)), new Set([checksum(ATTRIBUTES)]));
  failed(sent, "InvalidMessageContents");
  const messages = await queue.receive();
  equal(messages.map((message) => message.Body), ["body 0", "body 1", "body 2", "body 3"]);
  messages.forEach((message) => equal(message.MessageAttributes, ATTRIBUTES));

  const handles = messages.map(({ ReceiptHandle }, at) => ({ Id: `${at}`, ReceiptHandle }));
  const Entries = [...handles, { Id: "bad", ReceiptHandle: "garbage" }];
  const hidden = Entries.map((entry) => ({ ...entry, VisibilityTimeout: 120 }));
  const changed = await sqs.changeMessageVisibilityBatch({ QueueUrl, Entries: hidden });
  equal(changed.Successful.length, 4);
  failed(changed, "ReceiptHandleIsInvalid");
  const deleted = await sqs.deleteMessageBatch({ QueueUrl, Entries });
  equal(deleted.Successful.length, 4);
  failed(deleted, "ReceiptHandleIsInvalid");
  equal(await queue.counts(), [0, 0]);
}

// Invalid batches.
export async function rejections({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "batch-rejections", fifo);
  const half = "x".repeat(600_000);
  const wrong = [
    [EmptyBatchRequest, []],
    [TooManyEntriesInBatchRequest, named(..."abcdefghijk")],
    [BatchEntryIdsNotDistinct, named("a", "a")],
    [InvalidBatchEntryId, named("not an id")],
    [BatchRequestTooLong, [entry("a", half), entry("b", half)]],
  ];
  for (const [type, entries] of wrong) {
    await rejected(type, `AWS.SimpleQueueService.${type.name}`, 400, () => send(queue, entries));
  }
  equal(await queue.counts(), [0, 0]);
}

export function send(queue, entries) {
  const Entries = entries.map((entry) => ({ ...entry, ...queue.group }));
  return queue.sqs.sendMessageBatch({ QueueUrl: queue.url, Entries });
}

export function named(...ids) {
  return ids.map((id) => entry(id, `body ${id}`));
}

function entry(Id, MessageBody) {
  return { Id, MessageBody, MessageAttributes: ATTRIBUTES };
}

function failed({ Failed }, code) {
  const { Id, Code, SenderFault } = only(Failed);
  equal({ Id, Code, SenderFault }, { Id: "bad", Code: code, SenderFault: true });
}
