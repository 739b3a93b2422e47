/** Move tasks: dead letters go back to the queues that they came from. */

import { get, parseArn, sqs } from "../api.js";
import { form } from "../dialog.js";
import { attribute, h, keyed, setText } from "../dom.js";
import { number, time } from "../format.js";
import { isFifo } from "../queue-model.js";
import { button } from "./parts.js";

/** @typedef {import("../queue-model.js").Queue} Queue */
/** @typedef {import("../app.js").Context} Context */
/**
 * @typedef {{ TaskHandle?: string, Status: string, SourceArn: string, DestinationArn?: string, StartedTimestamp: number,
 *   MaxNumberOfMessagesPerSecond?: number, ApproximateNumberOfMessagesMoved: number, ApproximateNumberOfMessagesToMove?: number,
 *   FailureReason?: string }} Task
 */

/**
 * @param {Context} context
 * @param {Queue} queue
 * @param {Queue[]} queues
 */
export function startRedrive(context, queue, queues) {
  const targets = queues.filter((other) => isFifo(other) === isFifo(queue) && other.arn !== queue.arn);
  return form({
    title: `Redrive ${queue.name}`,
    intro: "Moves the visible messages. They get a new id and a new send time.",
    fields: [
      { name: "target", label: "To", type: "select", options: [["", "the queues they came from"], ...targets.map(({ arn, name }) => /** @type {[string, string]} */ ([arn, name]))] },
      { name: "rate", label: "Messages per second", type: "number", min: 1, max: 500, help: "Empty: as fast as possible" },
    ],
    submit: "Redrive",
    async run({ target, rate }) {
      const input = {
        SourceArn: queue.arn,
        ...(target ? { DestinationArn: target } : {}),
        ...(rate ? { MaxNumberOfMessagesPerSecond: Number(rate) } : {}),
      };
      await sqs("StartMessageMoveTask", input, queue.arn);
      context.done("The move task is started", { service: "sqs", action: "StartMessageMoveTask", input, arn: queue.arn });
      return true;
    },
  });
}

/** Style of a status. @type {Record<string, string>} */
const STYLES = { RUNNING: "accent", COMPLETED: "good", FAILED: "bad", CANCELLED: "warn", CANCELLING: "warn" };

/** @type {(task: Task, cancel: (task: Task) => void) => import("../dom.js").Row<Task>} */
function row(first, cancel) {
  let task = first;
  const status = h("span", { class: "badge" });
  const moved = h("span", { class: "num" });
  const progress = h("progress", { "aria-label": "Progress", max: 1 });
  const reason = h("span", { class: "bad" });
  const stop = button("Cancel task", () => cancel(task), "danger");
  const target = first.DestinationArn ? parseArn(first.DestinationArn).name : "the queues they came from";
  const element = h("li", { class: "toolbar" }, status, h("span", null, `to ${target}`), progress, moved,
    h("span", { class: "muted" }, `started ${time(first.StartedTimestamp)} UTC`), reason, stop);
  return {
    element,
    update(next) {
      task = next;
      const running = next.Status === "RUNNING";
      const all = next.ApproximateNumberOfMessagesToMove;
      setText(status, next.Status.toLowerCase());
      attribute(status, "class", `badge ${STYLES[next.Status] ?? ""}`);
      setText(moved, `${number(next.ApproximateNumberOfMessagesMoved)}${all ? ` of ${number(all)}` : ""} moved`);
      progress.value = all ? next.ApproximateNumberOfMessagesMoved / all : 0;
      progress.hidden = !running || !all;
      setText(reason, next.FailureReason ?? "");
      stop.hidden = !running;
    },
  };
}

/**
 * The tasks of a dead-letter queue.
 * @param {Context} context
 * @param {() => Queue | null} current
 * @param {() => Promise<Queue[]>} queues
 */
export function redrive(context, current, queues) {
  const list = h("ul", { class: "tasks", "aria-label": "Move tasks" });
  const none = h("p", { class: "muted" }, "No move task yet.");
  /** @type {Task[]} */
  let tasks = [];
  let loading = false;
  const load = async () => {
    const queue = current();
    if (!queue || loading) return;
    loading = true;
    try {
      const { region, account, name } = parseArn(queue.arn);
      // Not `ListMessageMoveTasks`: looking leaves no trace among the requests.
      tasks = (await get(`/_mock/queues/${encodeURIComponent(name)}/move-tasks`, { region, account })).move_tasks;
    } finally {
      loading = false;
    }
    // Tasks that start at one time, with a frozen clock, differ in their place; the latest is the first.
    keyed(list, tasks, (task) => `${task.StartedTimestamp} ${tasks.length - tasks.indexOf(task)}`, (task) => row(task, cancel));
    none.hidden = tasks.length > 0;
  };
  const cancel = async (/** @type {Task} */ { TaskHandle, SourceArn }) => {
    const input = { TaskHandle };
    await context.act("The move task is cancelled", () => sqs("CancelMessageMoveTask", input, SourceArn), { service: "sqs", action: "CancelMessageMoveTask", input, arn: SourceArn });
    await load();
  };
  const start = async () => {
    const queue = current();
    if (queue && (await startRedrive(context, queue, await queues()))) await load();
  };
  const element = h("section", { class: "card" },
    h("div", { class: "toolbar" }, h("h2", null, "Move tasks"), h("span", { class: "push" }), button("Start redrive", start, "primary")), list, none);
  return {
    element,
    load,
    start,
    /** Follows a running task. */
    tick() {
      if (tasks.some(({ Status }) => Status === "RUNNING")) load().catch(() => {});
    },
  };
}
