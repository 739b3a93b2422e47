// Tests the server with the AWS SDK for JavaScript: `tour.js ENDPOINT S3_ENDPOINT`.
import { S3 } from "@aws-sdk/client-s3";
import { SNS } from "@aws-sdk/client-sns";
import { SQS } from "@aws-sdk/client-sqs";
import { STS } from "@aws-sdk/client-sts";
import { createRequire } from "node:module";
import * as batches from "./batches.js";
import * as deadLetters from "./dead_letters.js";
import * as deliveries from "./deliveries.js";
import { events } from "./events.js";
import * as faults from "./faults.js";
import * as fifo from "./fifo.js";
import * as hooks from "./hooks.js";
import * as messages from "./messages.js";
import { Mock } from "./mock.js";
import * as queues from "./queues.js";
import * as topics from "./topics.js";

const { version } = createRequire(import.meta.url)("@aws-sdk/client-sqs/package.json");
const [endpoint, s3Endpoint] = process.argv.slice(2);

function client(Service, maxAttempts, more = {}) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new Service({ endpoint, region: "us-east-1", credentials, maxAttempts, ...more });
}

const clients = {
  sqs: client(SQS, 1),
  retrying: client(SQS, 3),
  sns: client(SNS, 1),
  sts: client(STS, 1),
  s3: client(S3, 1, { endpoint: s3Endpoint, forcePathStyle: true }),
};
const tour = { ...clients, mock: new Mock(endpoint) };
const standard = [false];
const both = [false, true];
const steps = [
  ["queues", both, queues.names],
  ["pagination of queues", standard, queues.pages],
  ["attributes of queues", both, queues.attributes],
  ["tags and permissions", both, queues.tags],
  ["purges", both, queues.purges],
  ["messages with every attribute", both, messages.everyAttribute],
  ["visibility and deletes", both, messages.visibility],
  ["rejected messages", both, messages.rejections],
  ["long polls", both, messages.longPolls],
  ["batches", both, batches.entries],
  ["rejected batches", both, batches.rejections],
  ["order of groups", [true], fifo.order],
  ["deduplication", [true], fifo.deduplication],
  ["dead letters", both, deadLetters.moveToDeadLetters],
  ["moved messages", both, deadLetters.moves],
  ["cancelled move", both, deadLetters.cancelledMove],
  ["wrong checksums", both, faults.checksums],
  ["throttling and lost responses", both, faults.throttling],
  ["identity of the caller", standard, topics.identity],
  ["topics", both, topics.names],
  ["attributes and tags of topics", both, topics.attributes],
  ["subscriptions", both, topics.subscriptions],
  ["rejected subscriptions", both, topics.rejections],
  ["missing topics", both, topics.missing],
  ["envelopes and raw messages", both, deliveries.envelopes],
  ["filter policies", standard, deliveries.filters],
  ["undeliverable messages", both, deliveries.undeliverable],
  ["order of groups of a topic", [true], deliveries.order],
  ["rejected publishes", both, deliveries.rejections],
  ["web hooks", standard, hooks.notifications],
  ["S3 events", standard, events],
];
for (const [what, types, step] of steps) {
  for (const type of types) {
    await step(tour, type);
  }
  console.log(`ok: AWS SDK for JavaScript ${version}: ${what}`);
}
Object.values(clients).forEach((client) => client.destroy());
