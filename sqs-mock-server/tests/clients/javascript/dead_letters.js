// Dead-letter queues and message move tasks.
import { paginateListDeadLetterSourceQueues, ResourceNotFoundException, SQSServiceException } from "@aws-sdk/client-sqs";
import assert from "node:assert/strict";
import { equal, eventually, only, rejected } from "./checks.js";
import { Queue } from "./queue.js";

export async function moveToDeadLetters({ sqs }, fifo) {
  const dead = await Queue.make(sqs, "dead", fifo);
  const sources = [await source(dead, "source-1"), await source(dead, "source-2")];
  const urls = [];
  for await (const page of paginateListDeadLetterSourceQueues({ client: sqs, pageSize: 1 }, { QueueUrl: dead.url })) {
    urls.push(only(page.queueUrls));
  }
  equal(urls.toSorted(), sources.map((queue) => queue.url));
  const sent = await sources[0].send("poison");
  equal(await sources[0].bodies(), ["poison"]);
  equal(await sources[0].bodies(), []);
  const deadLetter = only(await dead.receive());
  equal(deadLetter.MessageId, sent.MessageId);
  equal(deadLetter.Attributes.ApproximateReceiveCount, "2");
  equal(deadLetter.Attributes.DeadLetterQueueSourceArn, await sources[0].arn());
  const RedrivePolicy = policy(`${await dead.arn()}-nowhere`);
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () =>
    Queue.make(sqs, "invalid-target", fifo, { RedrivePolicy }));
}

export async function moves({ sqs }, fifo) {
  const dead = await Queue.make(sqs, "moved", fifo);
  const from = await source(dead, "moved-source");
  const SourceArn = await dead.arn();
  await from.send("1");
  await from.send("2");
  await eventually("both messages are dead letters", async () =>
    (await from.receive()).length === 0 && (await dead.counts())[0] === 2);
  await sqs.startMessageMoveTask({ SourceArn });
  await eventually("the task ends", async () => (await task(dead)).Status === "COMPLETED");
  const ended = await task(dead);
  equal([ended.ApproximateNumberOfMessagesMoved, ended.SourceArn, ended.TaskHandle], [2, SourceArn, undefined]);
  equal(await dead.counts(), [0, 0]);
  equal(await from.bodies({ VisibilityTimeout: 30 }), ["1", "2"]);

  const sourceArn = await from.arn();
  await rejected(ResourceNotFoundException, "ResourceNotFoundException", 404, () =>
    sqs.startMessageMoveTask({ SourceArn: `${SourceArn}-nowhere` }));
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () =>
    sqs.startMessageMoveTask({ SourceArn: sourceArn }));
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () =>
    sqs.cancelMessageMoveTask({ TaskHandle: "garbage" }));
}

// A task with a custom destination and one message per second, until it is cancelled.
export async function cancelledMove({ sqs }, fifo) {
  const dead = await Queue.make(sqs, "slow", fifo);
  await source(dead, "slow-source");
  const destination = await Queue.make(sqs, "slow-destination", fifo);
  for (const body of "12345") {
    await dead.send(body);
  }
  const [SourceArn, DestinationArn] = [await dead.arn(), await destination.arn()];
  const MaxNumberOfMessagesPerSecond = 1;
  const { TaskHandle } = await sqs.startMessageMoveTask({ SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond });
  const running = await task(dead);
  equal(running.Status, "RUNNING");
  equal(running.TaskHandle, TaskHandle);
  equal(running.DestinationArn, DestinationArn);
  equal(running.MaxNumberOfMessagesPerSecond, 1);
  equal(running.ApproximateNumberOfMessagesToMove, 5);
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () => sqs.startMessageMoveTask({ SourceArn }));
  const cancelled = await sqs.cancelMessageMoveTask({ TaskHandle });
  assert.ok(cancelled.ApproximateNumberOfMessagesMoved < 5, "expected an unfinished task");
  await eventually("the task is cancelled", async () => (await task(dead)).Status === "CANCELLED");
  assert.ok((await dead.counts())[0] > 0, "expected remaining messages");
}

function policy(deadLetterTargetArn) {
  return JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
}

async function source(dead, name) {
  const RedrivePolicy = policy(await dead.arn());
  return Queue.make(dead.sqs, name, dead.fifo, { RedrivePolicy, VisibilityTimeout: "0" });
}

async function task(dead) {
  return only((await dead.sqs.listMessageMoveTasks({ SourceArn: await dead.arn() })).Results);
}
