// Failures on demand, which show that the client looks at what it compares and repeats.
import { RequestThrottled } from "@aws-sdk/client-sqs";
import assert from "node:assert/strict";
import { named, send } from "./batches.js";
import { equal, refused } from "./checks.js";
import { Queue } from "./queue.js";

export async function checksums({ sqs, mock }, fifo) {
  const queue = await Queue.make(sqs, "checksums", fifo);
  await mock.next("SendMessage", queue, "corrupt");
  await assert.rejects(queue.send("x"), /InvalidChecksumError/);
  await mock.next("SendMessageBatch", queue, "corrupt");
  await assert.rejects(send(queue, named("a", "b")), /Invalid MD5 checksum on messages/);
  await mock.next("ReceiveMessage", queue, "corrupt");
  await assert.rejects(queue.receive(), /Invalid MD5 checksum on messages/);
}

export async function throttling({ sqs, patient, mock }, fifo) {
  const queue = await Queue.make(sqs, "throttled", fifo);
  const request = { QueueUrl: queue.url, ...queue.group };
  await mock.next("SendMessage", queue, "throttle");
  await refused(RequestThrottled, "RequestThrottled", 403, () => queue.send("x"));
  await mock.next("SendMessage", queue, "throttle");
  await patient.sendMessage({ ...request, MessageBody: "again" });
  await mock.next("SendMessage", queue, "reset_after");
  await patient.sendMessage({ ...request, MessageBody: "lost" });
  // The answer was lost, so that the client sent again: of which only a FIFO queue knows.
  equal(await queue.bodies(), fifo ? ["again", "lost"] : ["again", "lost", "lost"]);
  equal(await mock.requests("SendMessage", queue), 5);
}
