/** Calls as lines for the AWS SDK for Rust; those of SQS fit sqs-client too. */

import { snake } from "./code.js";

/** @typedef {import("./copy.js").AwsCall} AwsCall */

/** Lists of SQS whose items are an enum. */
const ENUMS = ["AttributeNames", "MessageSystemAttributeNames"];
/** Maps of SQS whose keys are an enum. */
const ENUM_KEYS = ["Attributes", "MessageSystemAttributes"];

/** Escapes of JSON that Rust writes differently. @type {Record<string, string>} */
const ESCAPES = { "\\b": "\\x08", "\\f": "\\x0c" };

/** A text, raw if it has quotes. @param {string} text */
function literal(text) {
  if (!/["\\]/.test(text) || /[\0-\b\v-\x1f]/.test(text)) {
    return JSON.stringify(text).replace(/\\(?:u(....)|.)/g, (escape, code) => (code ? `\\u{${code}}` : (ESCAPES[escape] ?? escape)));
  }
  let marks = "#";
  while (text.includes(`"${marks}`)) marks += "#";
  return `r${marks}"${text}"${marks}`;
}

/** @param {unknown} value */
const plain = (value) => (typeof value === "number" || typeof value === "boolean" ? String(value) : literal(String(value)));

/**
 * A structure with its builder.
 * @param {AwsCall} call
 * @param {string} type
 * @param {Record<string, any>} fields
 */
function built(call, type, fields) {
  const steps = Object.entries(fields).flatMap(([name, value]) => setters(call, name, value));
  return `${type}::builder()${steps.join("")}.build()?`;
}

/**
 * Calls of a builder for one field.
 * @param {AwsCall} call
 * @param {string} name
 * @param {any} value
 * @returns {string[]}
 */
function setters(call, name, value) {
  const method = snake(name);
  const sqs = call.service === "sqs";
  if (name === "BinaryValue") return [`.binary_value(Blob::new([${Array.from(atob(value), (byte) => `${byte.charCodeAt(0)}u8`).join(", ")}]))`];
  if (name === "Body" && !sqs) return [`.body(ByteStream::from_static(${literal(value)}.as_bytes()))`];
  if (Array.isArray(value)) {
    return value.map((item) => {
      if (typeof item === "object") return `.${method}(${built(call, item.Key === undefined ? `${call.action}RequestEntry` : "Tag", item)})`;
      return `.${method}(${plain(item)}${sqs && ENUMS.includes(name) ? ".into()" : ""})`;
    });
  }
  if (typeof value !== "object") return [`.${method}(${plain(value)})`];
  return Object.entries(value ?? {}).map(([key, item]) => {
    const type = name.replace(/s$/, "Value");
    return `.${method}(${literal(key)}${sqs && ENUM_KEYS.includes(name) ? ".into()" : ""}, ${typeof item === "object" ? built(call, type, item ?? {}) : plain(item)})`;
  });
}

/** @type {(call: AwsCall) => string} */
export function rust(call) {
  const lines = Object.entries(call.input).flatMap(([name, value]) => setters(call, name, value));
  if (call.file) lines.push(`.body(ByteStream::from_path(${literal(call.file)}).await?)`);
  return [`${call.service}.${snake(call.action)}()`, ...lines.map((line) => `    ${line}`), "    .send()", "    .await?;", ""].join("\n");
}
