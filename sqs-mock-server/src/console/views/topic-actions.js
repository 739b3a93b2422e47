/** Actions of a topic: publish, subscribe, change a subscription, delete. */

import { query } from "../api.js";
import { confirm, form } from "../dialog.js";
import { pairs } from "../pairs.js";
import { allQueues } from "../queue-model.js";
import { entries } from "./topics.js";

/** @typedef {import("../app.js").Context} Context */
/** @typedef {import("./topics.js").Subscription} Subscription */
/** @typedef {import("../dialog.js").Field} Field */

/** An SNS action with flat parameters. @type {(action: string, parameters: Record<string, string>, arn: string) => Promise<Document>} */
const sns = (action, parameters, arn) => query("sns", action, parameters, arn);

/**
 * A map without empty values.
 * @param {Record<string, string>} map
 */
const filled = (map) => Object.fromEntries(Object.entries(map).filter(([, value]) => value !== ""));

/**
 * @param {Context} context
 * @param {string} arn
 * @param {boolean} fifo
 */
export function publish(context, arn, fifo) {
  /** @type {Field[]} */
  const ordered = [
    { name: "group", label: "Message group id", required: true },
    { name: "deduplication", label: "Deduplication id", help: "Empty with content-based deduplication" },
  ];
  const editor = pairs("Message attributes", [], ["String", "Number"]);
  return form({
    title: "Publish a message",
    wide: true,
    fields: [
      { name: "message", label: "Message", type: "textarea", required: true },
      { name: "subject", label: "Subject" },
      ...(fifo ? ordered : []),
    ],
    extra: editor.element,
    submit: "Publish",
    async run(values) {
      const MessageAttributes = Object.fromEntries(editor.read().map(({ name, type, value }) => [name, { DataType: type, StringValue: value }]));
      const simple = filled({
        TopicArn: arn,
        Message: values.message,
        Subject: values.subject,
        MessageGroupId: values.group ?? "",
        MessageDeduplicationId: values.deduplication ?? "",
      });
      /** @type {Record<string, string>} */
      const flat = {};
      Object.entries(MessageAttributes).forEach(([name, { DataType, StringValue }], index) => {
        const prefix = `MessageAttributes.entry.${index + 1}`;
        Object.assign(flat, { [`${prefix}.Name`]: name, [`${prefix}.Value.DataType`]: DataType, [`${prefix}.Value.StringValue`]: StringValue });
      });
      await sns("Publish", { ...simple, ...flat }, arn);
      const input = Object.keys(MessageAttributes).length ? { ...simple, MessageAttributes } : simple;
      context.done("The message is published", { service: "sns", action: "Publish", arn, input });
    },
  });
}

/**
 * Fields that a subscription has when it is made and when it is changed.
 * @param {Partial<Subscription>} subscription
 * @returns {Field[]}
 */
function settings({ raw, filter_policy, filter_policy_scope, dead_letter_queue }) {
  const policy = typeof filter_policy === "object" && filter_policy ? JSON.stringify(filter_policy, null, 2) : (filter_policy ?? "");
  return [
    { name: "raw", label: "Raw delivery", type: "checkbox", value: raw ?? false, help: "Without an envelope" },
    { name: "policy", label: "Filter policy", type: "textarea", rows: 4, value: String(policy), placeholder: '{"kind": ["hot"]}' },
    { name: "scope", label: "Filter by", type: "select", value: filter_policy_scope ?? "MessageAttributes", options: [["MessageAttributes", "attributes"], ["MessageBody", "body"]] },
    { name: "dead", label: "Dead-letter queue", value: dead_letter_queue ?? "", placeholder: "ARN of a queue" },
  ];
}

/**
 * The attributes of a subscription in SNS. An empty one is not set.
 * @param {Record<string, string>} values
 */
const subscriptionAttributes = ({ raw, policy, scope, dead }) => ({
  RawMessageDelivery: raw ? "true" : "false",
  FilterPolicyScope: policy ? scope : "",
  FilterPolicy: policy,
  RedrivePolicy: dead ? JSON.stringify({ deadLetterTargetArn: dead }) : "",
});

/**
 * @param {Context} context
 * @param {string} arn
 */
export async function subscribe(context, arn) {
  const options = (await allQueues()).map(({ arn, name }) => /** @type {[string, string]} */ ([arn, name]));
  if (!options.length) throw new Error("There is no queue. Create one first.");
  return form({
    title: "Subscribe a queue",
    fields: [{ name: "queue", label: "Queue", type: "select", options }, ...settings({})],
    submit: "Subscribe",
    async run(values) {
      const Attributes = filled(subscriptionAttributes(values));
      const simple = { TopicArn: arn, Protocol: "sqs", Endpoint: values.queue };
      await sns("Subscribe", { ...simple, ...entries("Attributes", Attributes) }, arn);
      context.done("The queue is subscribed", { service: "sns", action: "Subscribe", arn, input: { ...simple, Attributes } });
    },
  });
}

/**
 * @param {Context} context
 * @param {Subscription} subscription
 */
export function change(context, subscription) {
  const before = subscriptionAttributes(Object.fromEntries(settings(subscription).map(({ name, value }) => [name, value ? String(value) : ""])));
  return form({
    title: "Change the subscription",
    intro: subscription.endpoint,
    fields: settings(subscription),
    submit: "Save",
    async run(values) {
      const after = Object.entries(subscriptionAttributes(values));
      const changes = after.filter(([name, value]) => value !== before[/** @type {keyof typeof before} */ (name)]);
      const names = changes.map(([name]) => name);
      // A policy that fits one scope may not fit the other: the scope changes while there is none.
      if (before.FilterPolicy && names.includes("FilterPolicyScope") && names.includes("FilterPolicy")) changes.unshift(["FilterPolicy", ""]);
      /** @type {(name: string, value: string) => Promise<object | null>} */
      const set = async (AttributeName, AttributeValue) => {
        if (AttributeName === "FilterPolicyScope" && !AttributeValue) return null;
        /** @type {Record<string, string>} */
        const input = { SubscriptionArn: subscription.arn, AttributeName };
        // SNS removes a redrive policy if there is no value, and refuses an empty one.
        if (AttributeName !== "RedrivePolicy" || AttributeValue) input.AttributeValue = AttributeValue;
        await sns("SetSubscriptionAttributes", input, subscription.arn);
        return input;
      };
      /** @type {[string, object | null][]} */
      const done = [];
      try {
        for (const [name, value] of changes) done.push([name, await set(name, value)]);
      } catch (error) {
        // All changes or none: a typing error must not cost the policy that was there. It fits the earlier scope only, and the later
        // policy may not: the scope changes while there is none.
        const changed = new Set(done.map(([name]) => name));
        /** @type {[string, string][]} */
        const back = [...changed].reverse().map((name) => [name, before[/** @type {keyof typeof before} */ (name)]]);
        if (changed.has("FilterPolicyScope")) {
          const others = back.filter(([name]) => !name.startsWith("FilterPolicy"));
          back.splice(0, back.length, ["FilterPolicy", ""], ["FilterPolicyScope", before.FilterPolicyScope], ["FilterPolicy", before.FilterPolicy], ...others);
        }
        for (const [name, value] of back) {
          // The first error says what is wrong with the input.
          await set(name, value).catch(() => null);
        }
        throw error;
      }
      for (const [name, input] of done) {
        if (input) context.done(`${name} is changed`, { service: "sns", action: "SetSubscriptionAttributes", arn: subscription.arn, input });
      }
    },
  });
}

/** @type {(context: Context, subscription: Subscription) => Promise<unknown>} */
export function unsubscribe(context, { arn, endpoint }) {
  const input = { SubscriptionArn: arn };
  const run = async () => {
    await sns("Unsubscribe", input, arn);
    context.done("The subscription is removed", { service: "sns", action: "Unsubscribe", arn, input });
  };
  return confirm({ title: "Unsubscribe", text: `${endpoint} gets no further messages.`, submit: "Unsubscribe", run });
}

/** @type {(context: Context, arn: string, name: string) => Promise<unknown>} */
export function deleteTopic(context, arn, name) {
  const input = { TopicArn: arn };
  const run = async () => {
    await sns("DeleteTopic", input, arn);
    context.done(`Topic ${name} is deleted`, { service: "sns", action: "DeleteTopic", arn, input });
    location.hash = "#/topics";
  };
  return confirm({ title: "Delete the topic", text: "Deletes the topic and its subscriptions. Queues and their messages stay.", submit: "Delete", type: name, run });
}
