// A new queue for a step: standard, or FIFO with content-based deduplication.
import { equal, checksum } from "./checks.js";

// Attributes of every type, with custom labels.
export const ATTRIBUTES = {
  text: { DataType: "String", StringValue: 'Zürich <&> "€"' },
  note: { DataType: "String.note", StringValue: "𝄞" },
  number: { DataType: "Number", StringValue: "-1.50e3" },
  count: { DataType: "Number.int", StringValue: "42" },
  bytes: { DataType: "Binary", BinaryValue: Uint8Array.of(0, 1, 2, 254, 255) },
  image: { DataType: "Binary.png", BinaryValue: Uint8Array.of(137, 80, 78, 71) },
};

export class Queue {
  static async make(sqs, name, fifo, attributes = {}) {
    const queue = new Queue();
    const Attributes = fifo ? { FifoQueue: "true", ContentBasedDeduplication: "true", ...attributes } : attributes;
    queue.sqs = sqs;
    queue.fifo = fifo;
    queue.name = `javascript-${name}${fifo ? ".fifo" : ""}`;
    queue.url = (await sqs.createQueue({ QueueName: queue.name, Attributes })).QueueUrl;
    return queue;
  }

  // A queue to which SNS and S3 may send.
  static target(sqs, name, fifo = false) {
    const Service = ["sns.amazonaws.com", "s3.amazonaws.com"];
    const Statement = { Effect: "Allow", Principal: { Service }, Action: "sqs:SendMessage", Resource: "*" };
    return Queue.make(sqs, name, fifo, { Policy: JSON.stringify({ Version: "2012-10-17", Statement }) });
  }

  // The message group, if the queue is FIFO.
  get group() {
    return this.fifo ? { MessageGroupId: "g" } : {};
  }

  async send(body, more = {}) {
    const sent = await this.sqs.sendMessage({ QueueUrl: this.url, MessageBody: body, ...this.group, ...more });
    if (more.MessageAttributes) {
      equal(sent.MD5OfMessageAttributes, checksum(more.MessageAttributes));
    }
    return sent;
  }

  async receive(more = {}) {
    const { Messages = [] } = await this.sqs.receiveMessage({ ...this.everything, ...more });
    for (const message of Messages.filter((message) => message.MessageAttributes)) {
      equal(message.MD5OfMessageAttributes, checksum(message.MessageAttributes));
    }
    return Messages;
  }

  async bodies(more = {}) {
    return (await this.receive(more)).map((message) => message.Body);
  }

  get everything() {
    return {
      QueueUrl: this.url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    };
  }

  async delete({ ReceiptHandle }) {
    await this.sqs.deleteMessage({ QueueUrl: this.url, ReceiptHandle });
  }

  // Makes a message visible.
  async release({ ReceiptHandle }) {
    await this.sqs.changeMessageVisibility({ QueueUrl: this.url, ReceiptHandle, VisibilityTimeout: 0 });
  }

  async attributes(...names) {
    const request = { QueueUrl: this.url, AttributeNames: names };
    return (await this.sqs.getQueueAttributes(request)).Attributes;
  }

  async arn() {
    return (await this.attributes("QueueArn")).QueueArn;
  }

  // The numbers of visible and in-flight messages.
  async counts() {
    const all = await this.attributes("All");
    return [all.ApproximateNumberOfMessages, all.ApproximateNumberOfMessagesNotVisible].map(Number);
  }
}
