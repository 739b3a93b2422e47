// A new topic for a step: standard, or FIFO with content-based deduplication.
import { InvalidParameterException } from "@aws-sdk/client-sns";
import assert from "node:assert/strict";
import { rejected } from "./checks.js";

export const RAW = { RawMessageDelivery: "true" };

export class Topic {
  static async make(sns, name, fifo, attributes = {}) {
    const topic = new Topic();
    topic.sns = sns;
    topic.fifo = fifo;
    topic.name = `javascript-${name}${fifo ? ".fifo" : ""}`;
    const Attributes = fifo ? { FifoTopic: "true", ContentBasedDeduplication: "true", ...attributes } : attributes;
    topic.arn = (await sns.createTopic({ Name: topic.name, Attributes })).TopicArn;
    return topic;
  }

  // Subscribes a queue. Returns the ARN of the subscription.
  async subscribe(Endpoint, Attributes = {}) {
    const request = { TopicArn: this.arn, Protocol: "sqs", Endpoint, Attributes };
    return (await this.sns.subscribe(request)).SubscriptionArn;
  }

  publish(Message, more = {}) {
    const group = this.fifo ? { MessageGroupId: "g" } : {};
    return this.sns.publish({ TopicArn: this.arn, Message, ...group, ...more });
  }

  publishBatch(PublishBatchRequestEntries) {
    return this.sns.publishBatch({ TopicArn: this.arn, PublishBatchRequestEntries });
  }

  async attributes() {
    return (await this.sns.getTopicAttributes({ TopicArn: this.arn })).Attributes;
  }

  async delete() {
    await this.sns.deleteTopic({ TopicArn: this.arn });
  }
}

// Asserts that SNS rejects a call with `InvalidParameter` and a text that starts so.
export async function invalid(text, call) {
  const message = await rejected(InvalidParameterException, "InvalidParameter", 400, call);
  assert.ok(message.startsWith(`Invalid parameter: ${text}`), `expected ${text}, got ${message}`);
}
