// Injected faults, which test the checksums and the retries of the client.
import { RequestThrottled } from "@aws-sdk/client-sqs";
import assert from "node:assert/strict";
import { named, send } from "./batches.js";
import { equal, rejected } from "./checks.js";
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

export async function throttling({ sqs, retrying, mock }, fifo) {
  const queue = await Queue.make(sqs, "throttled", fifo);
  const request = { QueueUrl: queue.url, ...queue.group };
  await mock.next("SendMessage", queue, "throttle");
  await rejected(RequestThrottled, "RequestThrottled", 403, () => queue.send("x"));
  await mock.next("SendMessage", queue, "throttle");
  await retrying.sendMessage({ ...request, MessageBody: "again" });
  await mock.next("SendMessage", queue, "reset_after");
  await retrying.sendMessage({ ...request, MessageBody: "lost" });
  // The client retries after the lost response. Only a FIFO queue detects the duplicate.
  equal(await queue.bodies(), fifo ? ["again", "lost"] : ["again", "lost", "lost"]);
  equal(await mock.requests("SendMessage", queue), 5);
}
