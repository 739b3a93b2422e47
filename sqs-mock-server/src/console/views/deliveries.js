/** Requests that the server sent to web hooks and functions. */

import { get } from "../api.js";
import { h, keyed } from "../dom.js";
import { time } from "../format.js";
import { cell, table } from "./parts.js";

/**
 * @typedef {{ number: number, kind: string, url: string, time: string, messages: number, attempt: number, status: number | null,
 *   error: string | null, follows: string | null, seconds: number }} Delivery
 */

const LIMIT = 100;

/** @type {(request: Delivery) => HTMLElement} */
function row({ kind, url, time: at, messages, attempt, status, error, follows, seconds }) {
  const badge = h("span", { class: error ? "badge warn" : "badge" }, String(status ?? "no answer"));
  const isPlain = kind === "Notification" || kind === "Invocation";
  return h(
    "tr",
    null,
    cell("num", time(at, true)),
    cell("", isPlain ? null : `${kind} `, url),
    cell("num", String(kind === "Invocation" ? messages : attempt)),
    cell("num", `${Math.round(seconds * 1000)} ms`),
    cell("", badge, error ? ` ${error}` : "", follows ? `; ${follows}` : ""),
  );
}

/**
 * A section with the latest requests for a topic or a queue, hidden while there are none.
 * @param {string} arn
 * @param {{ title: string, count: string }} texts the title, and the head of the column with attempts or messages
 */
export function deliveries(arn, { title, count }) {
  const body = h("tbody", null);
  const element = h("section", { hidden: true }, h("h2", null, title), table(title, ["Time", "URL", count, "Took", "Outcome"], body));
  const load = async () => {
    /** @type {{ deliveries: Delivery[] }} */
    const { deliveries: latest } = await get("/_mock/deliveries", { source: arn, limit: LIMIT });
    keyed(body, latest.reverse(), ({ number }) => String(number), (request) => ({ element: row(request), update() {} }));
    element.hidden = latest.length === 0;
  };
  return { element, load };
}
