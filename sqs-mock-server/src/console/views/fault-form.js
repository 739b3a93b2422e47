/** The form that adds a fault: all effects and conditions of the server. */

import { post } from "../api.js";
import { form } from "../dialog.js";

/** Effects, what they do, and the fields that belong to them. @type {Record<string, [about: string, fields: string[]]>} */
export const EFFECTS = {
  error: ["answers with an error", ["code", "message"]],
  throttle: ["answers that the rate is too high", ["message"]],
  status: ["answers with a status, as a proxy", ["status", "body"]],
  reset_before: ["resets the connection, does nothing", []],
  reset_after: ["executes, then resets the connection", []],
  truncate: ["executes, ends the answer in the middle", []],
  corrupt: ["executes, answers with wrong checksums", []],
  latency: ["delays the request", ["latency_ms", "max_latency_ms"]],
  fail_entries: ["fails entries of a batch", ["code", "message", "sender_fault"]],
  omit_entries: ["leaves entries of a batch out of the answer", []],
  redeliver: ["delivers messages again", []],
  pace: ["slows bodies down (S3)", ["bytes_per_second"]],
};
/** Conditions and the services they exist for. */
const CONDITIONS = {
  queue: ["sqs"],
  topic: ["sns"],
  bucket: ["s3"],
  key_prefix: ["s3"],
  group: ["sqs", "sns"],
  body_contains: ["sqs", "sns"],
  entries: ["sqs", "sns"],
};
/** Effects that a service does not have. @type {Record<string, string[]>} */
const MISSING = {
  sqs: ["pace"],
  sns: ["redeliver", "pace"],
  s3: ["fail_entries", "omit_entries", "redeliver"],
  sts: ["fail_entries", "omit_entries", "redeliver", "pace"],
};
const NUMBERS = ["status", "latency_ms", "max_latency_ms", "bytes_per_second", "skip", "times", "probability", "above"];

/** @typedef {import("../dialog.js").Field} Field */

/**
 * @param {Record<string, string>} start initial values
 * @returns {Field[]}
 */
function fields(start) {
  /** @type {(Field & { step?: string })[]} */
  const all = [
    { name: "service", label: "Service", type: "select", options: [["sqs", "SQS"], ["sns", "SNS"], ["s3", "S3"], ["sts", "STS"]] },
    { name: "effect", label: "Effect", type: "select", options: Object.entries(EFFECTS).map(([name, [about]]) => [name, `${name}: ${about}`]) },
    { name: "code", label: "Error code", placeholder: "InternalError", required: true },
    { name: "message", label: "Error message" },
    { name: "sender_fault", label: "Sender fault", type: "select", options: [["", "as the code"], ["true", "yes"], ["false", "no"]] },
    { name: "status", label: "Status", type: "number", min: 200, max: 599, required: true, placeholder: "503" },
    { name: "body", label: "Body" },
    { name: "latency_ms", label: "Delay (ms)", type: "number", min: 0, required: true },
    { name: "max_latency_ms", label: "At most (ms)", type: "number", min: 0, help: "With it, each delay is random" },
    { name: "bytes_per_second", label: "Bytes per second", type: "number", min: 1, required: true },
    { name: "actions", label: "Actions", placeholder: "SendMessage, SendMessageBatch", help: "Empty for all" },
    { name: "queue", label: "Queue", help: "Name, URL or ARN" },
    { name: "topic", label: "Topic", help: "Name or ARN" },
    { name: "bucket", label: "Bucket" },
    { name: "key_prefix", label: "Key prefix" },
    { name: "group", label: "Message group" },
    { name: "body_contains", label: "Body contains" },
    { name: "entries", label: "Positions in a batch", placeholder: "0, 3", pattern: "[0-9 ,]*" },
    { name: "skip", label: "Skip the first", type: "number", min: 0 },
    { name: "times", label: "At most times", type: "number", min: 1, help: "Empty for no limit" },
    { name: "probability", label: "Probability", type: "number", min: 0, max: 1, step: "any", placeholder: "0.05" },
    { name: "above", label: "Only above a rate (1/s)", type: "number", min: 0, step: "any" },
  ];
  return all.map((field) => ({ ...field, value: start[field.name] || undefined }));
}

/**
 * Whether a field applies to a service and an effect.
 * @param {string} name
 * @param {string} service
 * @param {string} effect
 */
function applies(name, service, effect) {
  if (name in CONDITIONS) return CONDITIONS[/** @type {keyof typeof CONDITIONS} */ (name)].includes(service);
  const ofEffects = Object.values(EFFECTS).some(([, fields]) => fields.includes(name));
  return !ofEffects || EFFECTS[effect][1].includes(name);
}

/** Shows the fields that apply, and disables the others. @param {HTMLFormElement} body */
function adapt(body) {
  const service = /** @type {HTMLSelectElement} */ (body.elements.namedItem("service")).value;
  const effect = /** @type {HTMLSelectElement} */ (body.elements.namedItem("effect"));
  for (const option of effect.options) option.disabled = MISSING[service].includes(option.value);
  if (effect.selectedOptions[0]?.disabled) effect.value = "throttle";
  for (const element of body.elements) {
    const input = /** @type {HTMLInputElement} */ (element);
    const field = /** @type {HTMLElement | null} */ (input.closest(".field"));
    if (!field || !input.name) continue;
    field.hidden = !applies(input.name, service, effect.value);
    input.disabled = field.hidden;
  }
}

/**
 * The fault in the JSON of the server.
 * @param {Record<string, string>} values
 */
function fault({ service, effect, ...values }) {
  /** @type {Record<string, unknown>} */
  const body = service === "sqs" ? { effect } : { effect, service };
  for (const [name, value] of Object.entries(values)) {
    const text = value.trim();
    if (!text || !applies(name, service, effect)) continue;
    if (NUMBERS.includes(name)) body[name] = Number(text);
    else if (name === "actions") body.actions = list(text);
    else if (name === "entries") body.entries = list(text).map(Number);
    else if (name === "sender_fault") body.sender_fault = text === "true";
    else body[name] = value;
  }
  return body;
}

/** @param {string} text */
const list = (text) => text.split(/[\s,]+/).filter(Boolean);

/**
 * Asks for a fault and adds it.
 * @param {import("../app.js").Context} context
 * @param {Record<string, string>} start initial values
 */
export async function addFault(context, start = {}) {
  /** @type {Record<string, unknown>} */
  let body = {};
  const added = await form({
    title: "Add a fault",
    fields: fields(start),
    submit: "Add",
    wide: true,
    changed: adapt,
    run: (values) => post("/_mock/faults", (body = fault(values))),
  });
  if (added) context.done(`Fault ${added.id} is armed`, { method: "POST", path: "/_mock/faults", body });
}
