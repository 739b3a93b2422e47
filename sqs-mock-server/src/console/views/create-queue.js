/** Creating a queue. */

import { arnOf, sqs } from "../api.js";
import { form, values } from "../dialog.js";
import { canBeDeadLetterQueue, deadLetterFields, policyText } from "./queue-settings.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../app.js").Context} Context */

/**
 * @param {Context} context
 * @param {Queue[]} queues
 * @param {import("../api.js").Place} place
 */
export function createQueue(context, queues, place) {
  /** @param {import("../dialog.js").Values} fields */
  const named = ({ name, fifo, region, account }) => {
    const QueueName = fifo && !name.endsWith(".fifo") ? `${name}.fifo` : name;
    return { name: QueueName, arn: arnOf("sqs", region, account, QueueName) };
  };
  /** Offers the queues that fit. @param {HTMLFormElement} body */
  const changed = (body) => {
    const queue = named(values(body));
    const dead = /** @type {HTMLSelectElement} */ (body.elements.namedItem("dead"));
    for (const option of dead.options) option.hidden = queues.some((other) => other.arn === option.value && !canBeDeadLetterQueue(queue, other));
    if (dead.selectedOptions[0]?.hidden) dead.value = "";
  };
  return form({
    title: "Create a queue",
    changed,
    fields: [
      { name: "name", label: "Name", required: true, help: "Up to 80 letters, digits, - and _" },
      { name: "fifo", label: "FIFO", type: "checkbox", help: "Adds .fifo to the name" },
      { name: "content", label: "Content-based deduplication", type: "checkbox", help: "FIFO only" },
      ...deadLetterFields(queues, null),
      { name: "region", label: "Region", value: place.region, required: true },
      { name: "account", label: "Account", value: place.account, required: true, pattern: "[0-9]{12}" },
    ],
    submit: "Create",
    async run({ content, dead, receives, ...fields }) {
      const { name: QueueName, arn } = named(fields);
      /** @type {Record<string, string>} */
      const Attributes = {};
      if (QueueName.endsWith(".fifo")) Attributes.FifoQueue = "true";
      if (content) Attributes.ContentBasedDeduplication = "true";
      if (dead) Attributes.RedrivePolicy = policyText(dead, receives);
      const input = Object.keys(Attributes).length ? { QueueName, Attributes } : { QueueName };
      await sqs("CreateQueue", input, arn);
      context.done(`Queue ${QueueName} is created`, { service: "sqs", action: "CreateQueue", input, arn });
    },
  });
}
