/** Messages per second of each queue, from two readings of its totals. */

/** @typedef {import("./queue-model.js").Queue} Queue */
/** @typedef {{ at: number, arrived: number, left: number }} Reading */

/** A rate is that of the last seconds. */
const WINDOW_MS = 10_000;

/** @type {Map<string, Reading[]>} */
let readings = new Map();

/** The oldest reading of the window comes first; one older than it stays as the start. @param {Reading[]} list */
function forget(list) {
  while (list.length > 1 && list[1].at < performance.now() - WINDOW_MS) list.shift();
}

export const rates = {
  /** Forgets all readings, after a time in which there were none. */
  restart: () => readings.clear(),
  /** @param {Queue[]} queues all queues */
  record(queues) {
    const at = performance.now();
    const before = readings;
    readings = new Map();
    for (const { arn, totals } of queues) {
      const list = before.get(arn) ?? [];
      if (list.length && (totals.arrived < list[0].arrived || totals.left < list[0].left)) list.length = 0;
      list.push({ at, ...totals });
      readings.set(arn, list);
    }
  },
  /** @param {Queue} queue */
  of({ arn }) {
    const list = readings.get(arn) ?? [];
    forget(list);
    const last = list.at(-1);
    if (!last || list.length < 2) return { arrived: 0, left: 0 };
    const seconds = Math.min(performance.now() - list[0].at, WINDOW_MS) / 1000;
    return { arrived: (last.arrived - list[0].arrived) / seconds, left: (last.left - list[0].left) / seconds };
  },
  /** @param {number} rate */
  text: (rate) => (rate === 0 ? "" : rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString("en-US")),
};
