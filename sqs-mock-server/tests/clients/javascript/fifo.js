// FIFO queues: order and locks of message groups, deduplication, repeated receive attempts.
import assert from "node:assert/strict";
import { equal, only } from "./checks.js";
import { Queue } from "./queue.js";

export async function order({ sqs }) {
  const queue = await Queue.make(sqs, "order", true);
  const numbers = [];
  for (const body of ["a1", "a2", "b1", "a3"]) {
    numbers.push((await queue.send(body, { MessageGroupId: body[0] })).SequenceNumber);
  }
  equal(numbers, numbers.toSorted());
  const first = only(await queue.receive({ MaxNumberOfMessages: 1 }));
  equal([first.Body, first.Attributes.SequenceNumber], ["a1", numbers[0]]);
  // The first message locks group a.
  equal(await queue.bodies(), ["b1"]);
  equal(await queue.bodies(), []);
  await queue.release(first);
  equal(await queue.bodies(), ["a1", "a2", "a3"]);
}

export async function deduplication({ sqs }) {
  const queue = await Queue.make(sqs, "once", true);
  const sent = await queue.send("same");
  const again = await queue.send("same");
  equal([again.MessageId, again.SequenceNumber], [sent.MessageId, sent.SequenceNumber]);
  equal((await queue.send("same", { MessageGroupId: "other" })).MessageId, sent.MessageId);
  const named = await queue.send("same", { MessageDeduplicationId: "named" });
  assert.notEqual(named.MessageId, sent.MessageId);
  const handles = (messages) => messages.map((message) => message.ReceiptHandle);
  const attempt = await queue.receive({ ReceiveRequestAttemptId: "try" });
  equal(attempt.length, 2);
  equal(handles(await queue.receive({ ReceiveRequestAttemptId: "try" })), handles(attempt));
  for (const message of attempt) {
    await queue.delete(message);
  }
  equal((await queue.send("same")).MessageId, sent.MessageId);
  equal(await queue.counts(), [0, 0]);
}
