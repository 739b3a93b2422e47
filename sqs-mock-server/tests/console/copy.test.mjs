// `Copy as`: the Rust lines compile as a part of the crate's tests. COPIED=1 writes them anew.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
after(() => stage.close());

const QueueUrl = "http://127.0.0.1:9324/000000000000/q";
const TopicArn = arn("t", "sns");
const text = 'tea "quoted" C:\\back\n\té \u0001\b\f "#';
const MessageAttributes = {
  kind: { DataType: "String", StringValue: text },
  bytes: { DataType: "Binary", BinaryValue: "AAEC/w==" },
};
const MessageSystemAttributes = { AWSTraceHeader: { DataType: "String", StringValue: "Root=1" } };
const fifo = { MessageGroupId: "a", MessageDeduplicationId: "b" };

/** Fields of all shapes, for each service. */
const CALLS = {
  sqs: [
    ["SendMessage", { QueueUrl, MessageBody: text, DelaySeconds: 3, MessageAttributes, MessageSystemAttributes, ...fifo }],
    ["SendMessageBatch", { QueueUrl, Entries: [{ Id: "1", MessageBody: "a\r", MessageAttributes, MessageSystemAttributes }, { Id: "2", MessageBody: "b" }] }],
    ["DeleteMessageBatch", { QueueUrl, Entries: [{ Id: "1", ReceiptHandle: "h" }] }],
    ["ChangeMessageVisibilityBatch", { QueueUrl, Entries: [{ Id: "1", ReceiptHandle: "h", VisibilityTimeout: 3 }] }],
    ["ReceiveMessage", { QueueUrl, MessageSystemAttributeNames: ["All"], MessageAttributeNames: ["All"], WaitTimeSeconds: 1 }],
    ["CreateQueue", { QueueName: "q.fifo", Attributes: { FifoQueue: "true", RedrivePolicy: '{"maxReceiveCount":3}' } }],
    ["SetQueueAttributes", { QueueUrl, Attributes: { Policy: "" } }],
    ["GetQueueAttributes", { QueueUrl, AttributeNames: ["All"] }],
    ["GetQueueUrl", { QueueName: "q", QueueOwnerAWSAccountId: "000000000000" }],
    ["AddPermission", { QueueUrl, Label: "l", AWSAccountIds: ["000000000000"], Actions: ["*"] }],
    ["ListQueues", { QueueNamePrefix: null }],
    ["TagQueue", { QueueUrl, Tags: { team: "tea" } }],
    ["UntagQueue", { QueueUrl, TagKeys: ["team"] }],
    ["StartMessageMoveTask", { SourceArn: arn("q"), MaxNumberOfMessagesPerSecond: 3 }],
    ["CancelMessageMoveTask", { TaskHandle: "h" }],
    ["PurgeQueue", { QueueUrl }],
  ],
  sns: [
    ["CreateTopic", { Name: "t.fifo", Attributes: { FifoTopic: "true" }, Tags: [{ Key: "team", Value: "tea" }] }],
    ["Subscribe", { TopicArn, Protocol: "sqs", Endpoint: arn("q"), ReturnSubscriptionArn: true, Attributes: { FilterPolicy: '{"a":["b"]}' } }],
    ["SetSubscriptionAttributes", { SubscriptionArn: TopicArn, AttributeName: "FilterPolicy", AttributeValue: "{}" }],
    ["Publish", { TopicArn, Message: text, Subject: "s", MessageStructure: "json", MessageAttributes, ...fifo }],
    ["Unsubscribe", { SubscriptionArn: TopicArn }],
  ],
  s3: [
    ["CreateBucket", { Bucket: "b" }],
    ["PutObject", { Bucket: "b", Key: "k y", Body: text, ContentType: "text/plain" }],
    ["DeleteObject", { Bucket: "b", Key: "k y" }],
  ],
};
const USES = {
  sqs: "use aws_sdk_sqs::{primitives::Blob, types::*};",
  sns: "use aws_sdk_sns::{primitives::Blob, types::*};",
  s3: "use aws_sdk_s3::primitives::ByteStream;",
};

function module(service, lines) {
  const functions = lines.map((line, at) =>
    `    async fn call_${at}(${service}: aws_sdk_${service}::Client) -> Result<(), Box<dyn std::error::Error>> {\n${line}Ok(())\n    }\n`);
  return `mod ${service} {\n    ${USES[service]}\n\n${functions.join("\n")}}\n`;
}

test("rust_lines_are_those_that_the_tests_of_the_crate_compile", () =>
  stage.visit("#/queues", async (page) => {
    const modules = [];
    for (const [service, calls] of Object.entries(CALLS)) {
      const lines = await page.evaluate(async ({ service, calls }) => {
        const { rust } = await import("./rust.js");
        return calls.map(([action, input]) => rust({ service, action, input }));
      }, { service, calls });
      modules.push(module(service, lines));
    }
    const head = "//! Calls as the console copies them, written by `copy.test.mjs`. That they compile is the test.\n#![allow(clippy::all, clippy::pedantic, dead_code)]\n";
    const generated = [head, ...modules].join("\n");
    const path = join(process.env.CONSOLE_SOURCES, "../../tests/it/copied.rs");
    if (process.env.COPIED) await writeFile(path, generated);
    assert.equal(generated, await readFile(path, "utf8"));
  }));
