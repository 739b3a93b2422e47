/** The triggers of a queue, and their invocations. */

import { get } from "../api.js";
import { fill, h, keyed } from "../dom.js";
import { number } from "../format.js";
import { deliveries } from "./deliveries.js";
import { cell, table } from "./parts.js";

/**
 * @typedef {{ id: string, queue: string, url: string, batch_size: number, invocations: number, failures: number, deleted: number,
 *   kept: number, filtered: number, in_progress: number, last_error: string | null, warning: string | null }} Trigger
 */

/** @param {Trigger} trigger */
const cells = ({ url, batch_size, invocations, failures, deleted, kept, filtered, in_progress, last_error, warning }) => [
  cell("", url),
  cell("num", number(batch_size)),
  cell("num", number(invocations), failures ? ` (${number(failures)} failed)` : ""),
  cell("num", number(in_progress)),
  cell("num", number(deleted)),
  cell("num", number(kept)),
  cell("num", number(filtered)),
  cell("", [warning, last_error].filter(Boolean).map((text) => h("span", { class: "badge warn" }, text))),
];

/** @param {string} arn of the queue */
export function triggers(arn) {
  const body = h("tbody", null);
  const columns = ["Function", "#Batch", "#Invocations", "#In progress", "#Deleted", "#Kept", "#Filtered", "Trouble"];
  const invocations = deliveries(arn, { title: "Latest invocations", count: "#Messages" });
  const element = h("div", null, table("Triggers", columns, body), invocations.element);
  /** @type {Trigger[]} */
  let own = [];
  return {
    element,
    /** Reads the triggers. Returns how many the queue has. */
    async count() {
      /** @type {{ triggers: Trigger[] }} */
      const { triggers: all } = await get("/_mock/triggers");
      own = all.filter(({ queue }) => queue === arn);
      return own.length;
    },
    async load() {
      keyed(body, own, ({ id }) => id, () => {
        const line = h("tr", null);
        return { element: line, update: (/** @type {Trigger} */ trigger) => fill(line, ...cells(trigger)) };
      });
      await invocations.load();
    },
  };
}
