// Single messages. The client verifies the checksums of bodies on send and on receive.
import {
  InvalidMessageContents,
  ReceiptHandleIsInvalid,
  SQSServiceException,
  UnsupportedOperation,
} from "@aws-sdk/client-sqs";
import { setTimeout as sleep } from "node:timers/promises";
import { checksum, equal, only, rejected } from "./checks.js";
import { ATTRIBUTES, Queue } from "./queue.js";

const BODY = '{"order":"№ 42 – žluťoučký","n":1}\r\n\t<end/>';
const TRACE = { AWSTraceHeader: { DataType: "String", StringValue: "Root=1-5759e988-bd862e3fe1be46a994272793" } };

export async function everyAttribute({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "messages", fifo);
  const sent = await queue.send(BODY, { MessageAttributes: ATTRIBUTES, MessageSystemAttributes: TRACE });
  equal(sent.MD5OfMessageSystemAttributes, checksum(TRACE));
  equal(sent.SequenceNumber?.length, fifo ? 20 : undefined);
  const message = only(await queue.receive());
  equal(message.Body, BODY);
  equal(message.MessageId, sent.MessageId);
  equal(message.MessageAttributes, ATTRIBUTES);
  equal(message.Attributes.AWSTraceHeader, TRACE.AWSTraceHeader.StringValue);
  equal(message.Attributes.ApproximateReceiveCount, "1");
  equal(message.Attributes.SequenceNumber, sent.SequenceNumber);
  equal(message.Attributes.MessageGroupId, fifo ? "g" : undefined);
}

export async function visibility({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "visibility", fifo);
  await queue.send(BODY, { MessageAttributes: ATTRIBUTES });
  const first = only(await queue.receive());
  equal(await queue.receive(), []);
  equal(await queue.counts(), [0, 1]);
  await queue.release(first);
  const again = only(await queue.receive({ MessageAttributeNames: ["num.*", "image"] }));
  equal(Object.keys(again.MessageAttributes).sort(), ["image", "number"]);
  equal(again.Attributes.ApproximateReceiveCount, "2");
  await queue.delete(again);
  await queue.delete(again);
  equal(await queue.counts(), [0, 0]);
  await rejected(SQSServiceException, "InvalidParameterValue", 400, () => queue.release(again));
  await rejected(ReceiptHandleIsInvalid, "ReceiptHandleIsInvalid", 404, () => queue.delete({ ReceiptHandle: "garbage" }));
}

export async function rejections({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "rejections", fifo, { MaximumMessageSize: "4096" });
  const number = { n: { DataType: "Number", StringValue: "seven" } };
  const list = { l: { DataType: "String", StringListValues: ["a", "b"], StringValue: "x" } };
  const alone = { MessageGroupId: undefined, MessageDeduplicationId: "once" };
  const rejectedWithoutClass = (code, call) => rejected(SQSServiceException, code, 400, call);
  await rejected(InvalidMessageContents, "InvalidMessageContents", 400, () => queue.send("\u0001"));
  await rejectedWithoutClass("MissingParameter", () => queue.send(""));
  await rejectedWithoutClass("InvalidParameterValue", () => queue.send("x".repeat(4097)));
  await rejectedWithoutClass("InvalidParameterValue", () => queue.receive({ MaxNumberOfMessages: 11 }));
  await rejectedWithoutClass("InvalidParameterValue", () => queue.send("x", { MessageAttributes: number }));
  await rejected(UnsupportedOperation, "AWS.SimpleQueueService.UnsupportedOperation", 400, () =>
    queue.send("x", { MessageAttributes: list }));
  await rejectedWithoutClass(fifo ? "MissingParameter" : "InvalidParameterValue", () => queue.send("x", alone));
  equal(await queue.counts(), [0, 0]);
}

// A long poll ends when a message arrives, and returns at once if a message is available.
export async function longPolls({ sqs }, fifo) {
  const queue = await Queue.make(sqs, "polls", fifo);
  let done = false;
  const waiting = queue.receive({ WaitTimeSeconds: 20 }).finally(() => (done = true));
  await sleep(50);
  equal(done, false);
  await queue.send("wake up");
  const woken = only(await Promise.race([waiting, sleep(5000, [], { ref: false })]));
  equal(woken.Body, "wake up");
  await queue.delete(woken);
  await queue.send("at once");
  equal(await queue.bodies({ WaitTimeSeconds: 20 }), ["at once"]);
  equal(await queue.bodies({ WaitTimeSeconds: 0 }), []);
}
