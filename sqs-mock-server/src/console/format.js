/** How values read: times, ages, sizes, numbers, bodies. */

/** @type {(value: number) => string} */
export const number = (value) => value.toLocaleString("en-US");

/**
 * A length of time in its largest units: `3 d 4 h`, `12 s`, `850 ms`.
 * @param {number | null | undefined} milliseconds
 * @param {number} [units] how many of them
 */
export function duration(milliseconds, units = 2) {
  if (milliseconds === null || milliseconds === undefined) return "";
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const total = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(total / 86_400), Math.floor(total / 3600) % 24, Math.floor(total / 60) % 60, total % 60];
  const first = parts.findIndex((part) => part > 0);
  const texts = parts.map((part, index) => `${part} ${["d", "h", "min", "s"][index]}`);
  return texts.slice(first, first + units).filter((_, index) => parts[first + index] > 0).join(" ");
}

/**
 * Date and time in UTC: `2026-11-23 23:21:06`, with milliseconds if asked.
 * @param {string | number | null | undefined} time RFC 3339, or milliseconds since 1970
 * @param {boolean} [precise]
 */
export function time(time, precise = false) {
  if (time === null || time === undefined || time === "") return "";
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(time);
  return date.toISOString().slice(0, precise ? 23 : 19).replace("T", " ");
}

/**
 * How far a time is from now: `12 s ago`, `in 3 min`.
 * @param {string | number | null | undefined} time
 * @param {number} now milliseconds since 1970
 * @param {number} [units] see `duration`
 */
export function relative(time, now, units) {
  if (!time) return "";
  const distance = new Date(time).getTime() - now;
  if (Math.abs(distance) < 1000) return "now";
  return distance < 0 ? `${duration(-distance, units)} ago` : `in ${duration(distance, units)}`;
}

/**
 * A size in bytes, KiB, MiB or GiB.
 * @param {number} bytes
 */
export function size(bytes) {
  const unit = ["B", "KiB", "MiB", "GiB"];
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), 3);
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit[power]}`;
}

/**
 * @param {string} text
 * @returns {any} the object or array that the text is in JSON; undefined if it is something else
 */
export function parseJson(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Levels of indentation; deeper ones would make a text of brackets far longer. */
const MAX_INDENT = 32;

/**
 * JSON with indentation; other text as it is.
 * @param {string} text
 */
export function pretty(text) {
  if (parseJson(text) === undefined) return text;
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, MAX_INDENT))}`;
  // `JSON.stringify` would round long numbers and drop repeated names.
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{]\s*[\]}]|[[{\]},:]|\s+/g, (token) => {
    if (token === ",") return `,${line()}`;
    if (token === ":") return ": ";
    if (token === "{" || token === "[") return token + (depth++, line());
    if (token === "}" || token === "]") return (depth--, line()) + token;
    return token.startsWith('"') ? token : token.replace(/\s+/g, "");
  });
}

/**
 * The message inside an SNS envelope.
 * @param {string} body
 * @returns {{ topic: string, message: string, subject: string, attributes: Record<string, { Type: string, Value: string }> } | null}
 */
export function envelope(body) {
  const value = parseJson(body);
  if (value?.Type !== "Notification" || typeof value.Message !== "string" || typeof value.TopicArn !== "string") return null;
  const attributes = Object.entries(value.MessageAttributes ?? {}).filter(([, attribute]) => attribute?.Type);
  return { topic: value.TopicArn, message: value.Message, subject: String(value.Subject ?? ""), attributes: Object.fromEntries(attributes) };
}

/**
 * The bucket and key of the object that holds the payload of a message, as Amazon's extended clients write it.
 * @param {string} body
 * @returns {{ bucket: string, key: string } | null}
 */
export function pointer(body) {
  const value = parseJson(body);
  const found = Array.isArray(value) && value.length === 2 ? value[1] : null;
  return typeof found?.s3BucketName === "string" && typeof found.s3Key === "string" ? { bucket: found.s3BucketName, key: found.s3Key } : null;
}
