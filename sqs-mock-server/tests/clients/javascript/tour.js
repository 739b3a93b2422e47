// Tests the server with the AWS SDK for JavaScript: `tour.js ENDPOINT`.
import { SQS } from "@aws-sdk/client-sqs";
import { createRequire } from "node:module";
import * as batches from "./batches.js";
import * as deadLetters from "./dead_letters.js";
import * as faults from "./faults.js";
import * as fifo from "./fifo.js";
import * as messages from "./messages.js";
import { Mock } from "./mock.js";
import * as queues from "./queues.js";

const { version } = createRequire(import.meta.url)("@aws-sdk/client-sqs/package.json");
const [endpoint] = process.argv.slice(2);

function client(maxAttempts) {
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return new SQS({ endpoint, region: "us-east-1", credentials, maxAttempts });
}

const tour = { sqs: client(1), retrying: client(3), mock: new Mock(endpoint) };
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
];
for (const [what, types, step] of steps) {
  for (const type of types) {
    await step(tour, type);
  }
  console.log(`ok: @aws-sdk/client-sqs ${version}: ${what}`);
}
tour.sqs.destroy();
tour.retrying.destroy();
