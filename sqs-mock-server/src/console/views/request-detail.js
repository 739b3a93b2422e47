/** One recorded request with its response. */

import { arnOf, get, url } from "../api.js";
import { copyMenu } from "../copy.js";
import { h, href } from "../dom.js";
import { parseJson, pretty, time } from "../format.js";
import { code, facts } from "./parts.js";

/**
 * @typedef {{ number: number, service: string, id: string, time: string, action: string | null, status: number | null, warnings: string[],
 *   elapsed_us: number, protocol?: string, queue?: string, topic?: string, bucket?: string, key?: string, account?: string,
 *   region?: string, error: string | null, content: string | null, answer?: string | null }} Request
 */

/** @param {Request} request whether it failed or has no response */
export const failed = (request) => request.status === null || request.status >= 400;

/** @param {number} microseconds */
export const elapsed = (microseconds) => (microseconds < 1000 ? `${microseconds} µs` : `${(microseconds / 1000).toFixed(1)} ms`);

/**
 * The queue, topic or object of a request.
 * @param {Request} request
 */
export function resource({ queue, topic, bucket, key }) {
  return queue ?? topic ?? (bucket ? [bucket, key].filter(Boolean).join("/") : "");
}

/** @param {Request} request */
function link(request) {
  const { region = "", account = "", queue, topic, bucket } = request;
  const target = queue ? href("queue", region, account, queue) : topic ? href("topic", region, account, topic) : bucket && href("bucket", bucket);
  return target ? h("a", { href: target }, resource(request)) : "";
}

/**
 * A body as text for people: JSON and XML with indentation, forms with one parameter a line.
 * @param {string | null | undefined} text
 */
function readable(text) {
  if (!text) return text === null || text === undefined ? "not recorded" : "empty";
  if (/^\s*<\?xml|^\s*<\w+[^>]*>/.test(text)) return indented(text);
  if (/^[\w.]+=[^\s]*(&[\w.]+=[^\s]*)*$/.test(text)) {
    return [...new URLSearchParams(text)].map(([name, value]) => `${name} = ${value}`).join("\n");
  }
  return pretty(text);
}

/** @param {string} xml */
function indented(xml) {
  let depth = 0;
  const lines = xml.replace(/>\s*</g, ">\n<").split("\n");
  return lines
    .map((line) => {
      if (line.startsWith("</")) depth--;
      const text = "  ".repeat(Math.max(depth, 0)) + line;
      if (/^<\w/.test(line) && !/<\/|\/>$/.test(line)) depth++;
      return text;
    })
    .join("\n");
}

/**
 * The call of AWS that repeats a request, if it was one of the JSON protocol of SQS.
 * @param {Request} request
 * @returns {import("../copy.js").Call | null}
 */
function repeatable({ service, action, content, region, account, queue }) {
  const input = parseJson(content ?? "");
  const arn = arnOf("sqs", region ?? "", account ?? "", queue ?? "");
  return service === "sqs" && action && input ? { service, action, input, arn } : null;
}

/**
 * Fetches a request and its response.
 * @param {number} number
 * @returns {Promise<HTMLElement>}
 */
export async function detail(number) {
  /** @type {Request} */
  const request = await get(`/_mock/requests/${number}`);
  const { service, action, status, error, warnings, queue, topic, bucket } = request;
  const call = repeatable(request);
  const fault = url("#/faults", { actions: action, service: service === "sqs" ? "" : service, queue, topic, bucket });
  return h(
    "section",
    { class: "card", "aria-label": `Request ${number}` },
    h("h2", null, `${service.toUpperCase()} ${action ?? "unknown action"} #${number}`),
    h("div", { class: "toolbar" }, call ? copyMenu(() => call) : null, h("a", { class: "button", href: fault }, "Fault for such requests")),
    facts([
      ["Time", `${time(request.time, true)} UTC`],
      ["Status", h("span", { class: failed(request) ? "badge bad" : "badge good" }, status ?? "no response")],
      ["Error", error],
      ["Resource", link(request)],
      ["Account", [request.account, request.region].filter(Boolean).join(" · ")],
      ["Duration", elapsed(request.elapsed_us)],
      ["Protocol", request.protocol],
      ["Request id", h("code", null, request.id)],
      ["Warnings", warnings.length ? h("ul", null, warnings.map((warning) => h("li", null, warning))) : null],
    ]),
    h("h3", null, "Request"),
    code("Request", readable(request.content)),
    h("h3", null, "Response"),
    code("Response", readable(request.answer)),
  );
}
