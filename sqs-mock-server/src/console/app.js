/**
 * The page: routes, navigation, status line and the event stream.
 *
 * A view is a module in `views/` that exports `view` (type `ViewFunction`). It is registered in `ROUTES` below:
 *
 *     export function view(root, params, context) {
 *       root.append(h("h1", { tabindex: "-1" }, "Faults"));      // gets the focus after navigation
 *       const load = async () => { const faults = await get("/_mock/faults"); ... };
 *       return { update: load, close() {} };
 *     }
 *
 * - `params` has the parts of the route (`#/topic/:region/:account/:name`) and of its query (`#/requests?queue=orders`), decoded.
 * - `update(changed)` is called at once after `view`, with all areas, and then when the event stream reports a change. `changed` has
 *   names of areas: queues, messages, requests, faults, clock, topics, buckets. Its promise is awaited: calls never
 *   overlap, and there are at least 250 ms between them. If it throws, the page shows the error.
 * - `tick()`, optional, is called every second, to show ages. It makes no requests.
 * - `close()` is called when another route follows.
 * - `context.now()` is the time of the server's clock in milliseconds, `context.state` the latest state of the stream (or null).
 * - `context.act(text, run, call?)` runs an action: it shows `text` when done, with `Copy as` for `call`, or the error.
 * - `context.done(text, call?)` and `context.fail(error)` show a result.
 * - `href("topic", region, account, name)` makes a link. `get`, `post`, `remove`, `sqs`, `query` (SNS, STS) and `s3` are in api.js,
 *   forms and confirmations in dialog.js, tables that keep focus by `keyed` in dom.js, long lists in virtual.js.
 */

import { setTokenPrompt } from "./api.js";
import { form } from "./dialog.js";
import { attribute, fill, h, keyed, setText } from "./dom.js";
import * as format from "./format.js";
import { connect } from "./live.js";
import { act, done, fail } from "./notices.js";
import { updater } from "./refresh.js";
import * as bucket from "./views/bucket.js";
import * as buckets from "./views/buckets.js";
import * as clock from "./views/clock.js";
import * as faults from "./views/faults.js";
import * as queue from "./views/queue.js";
import * as queues from "./views/queues.js";
import * as requests from "./views/requests.js";
import * as topic from "./views/topic.js";
import * as topics from "./views/topics.js";

/** @typedef {{ update(changed: Set<string>): Promise<void> | void, close(): void, tick?(): void }} View */
/** @typedef {Record<string, string>} Params */
/**
 * @typedef {{ readonly state: import("./live.js").State | null, now(): number, done(text: string, call?: import("./copy.js").Call): void,
 *   fail(error: unknown): void, act(text: string, run: () => Promise<unknown>, call?: import("./copy.js").Call): Promise<boolean> }} Context
 */
/** @typedef {(root: HTMLElement, params: Params, context: Context) => View} ViewFunction */

/** Route, title in the navigation (if it is there), view, and the area that has to be on. @type {[string, string, ViewFunction, ("topics" | "buckets")?][]} */
const ROUTES = [
  ["/queues", "Queues", queues.view],
  ["/queue/:region/:account/:name", "", queue.view],
  ["/requests", "Requests", requests.view],
  ["/clock", "Clock", clock.view],
  ["/faults", "Faults", faults.view],
  ["/topics", "Topics", topics.view, "topics"],
  ["/topic/:region/:account/:name", "", topic.view, "topics"],
  ["/buckets", "Buckets", buckets.view, "buckets"],
  ["/bucket/:name", "", bucket.view, "buckets"],
];
const AREAS = ["queues", "messages", "requests", "faults", "clock", "topics", "buckets"];

/** @type {import("./live.js").State | null} */
let state = null;
let stateAt = 0;
/** The view that is open, and the area that has to be on for it. @type {{ view: View, area?: "topics" | "buckets", updates: ReturnType<typeof updater> } | null} */
let current = null;

/** @type {(id: string) => HTMLElement} */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @type {Context} */
const context = {
  get state() {
    return state;
  },
  now() {
    if (!state) return Date.now();
    return state.clock.now_ms + (state.clock.frozen ? 0 : performance.now() - stateAt);
  },
  done,
  fail,
  act,
};

/** The path of the address, and its query. */
function address() {
  const [path, search] = (location.hash.slice(1) || "/queues").split("?");
  return { path, search };
}

/** A part of an address; one that is no text stays as it is. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @type {(state: import("./live.js").State | null, area: "topics" | "buckets") => boolean} */
const isOff = (state, area) => state !== null && state[area] === null;

/** The view of a service that the server does not run. @type {ViewFunction} */
function absent(root) {
  root.append(h("h1", { tabindex: "-1" }, "This server does not run this service"), h("p", null, "For buckets, start it without --no-s3."));
  return { update() {}, close() {} };
}

/** Opens the view of the address. */
function route() {
  const { path, search } = address();
  const parts = path.split("/").map(decoded);
  for (const [pattern, , view, area] of ROUTES) {
    const names = pattern.split("/");
    if (names.length !== parts.length || !names.every((name, index) => name.startsWith(":") || name === parts[index])) continue;
    const params = Object.fromEntries(new URLSearchParams(search));
    names.forEach((name, index) => name.startsWith(":") && (params[name.slice(1)] = parts[index]));
    return open(view, params, area);
  }
  location.hash = "#/queues";
}

/**
 * @param {ViewFunction} create
 * @param {Params} params
 * @param {"topics" | "buckets"} [area]
 */
function open(create, params, area) {
  current?.updates.close();
  current?.view.close();
  const main = part("main");
  fill(main);
  const view = (area && isOff(state, area) ? absent : create)(main, params, context);
  current = { view, area, updates: updater(view, fail) };
  const heading = main.querySelector("h1");
  document.title = `${heading?.textContent ?? ""} · sqs-mock-server`;
  heading?.focus({ preventScroll: true });
  navigation();
  current.updates.refresh(AREAS);
}

/** @param {string} path of a link: whether the page shows it, or something in it */
function isCurrent(path) {
  const place = address().path;
  return place === path || place.startsWith(`${path.replace(/s$/, "")}/`);
}

/** Shows the links; those of services that are off are not there. */
function navigation() {
  const shown = ROUTES.filter(([, title, , area]) => title && (!area || !state || state[area] !== null));
  keyed(part("nav"), shown, ([path]) => path, ([path, title]) => {
    const link = h("a", { href: `#${path}` }, title);
    return { element: link, update: () => attribute(link, "aria-current", isCurrent(path) && "page") };
  });
}

/** Shows the clock. */
function tick() {
  const offset = state?.clock.offset_ms ?? 0;
  const note = state?.clock.frozen ? " · frozen" : offset >= 1000 ? " · ahead" : offset <= -1000 ? " · behind" : "";
  setText(part("clock"), state ? `${format.time(context.now())} UTC${note}` : "");
  current?.view.tick?.();
}

setTokenPrompt((rejected) =>
  form({
    title: "Admin token",
    intro: rejected ? "The server rejected this token." : "The server was started with --admin-token.",
    fields: [{ name: "token", label: "Token", type: "password", required: true, pattern: "[!-~]+" }],
    submit: "Continue",
    run: ({ token }) => token,
  }),
);
addEventListener("hashchange", route);
part("skip").addEventListener("click", (event) => (event.preventDefault(), part("main").focus()));
setInterval(tick, 1000);
route();
connect({
  onConnection(connected) {
    attribute(document.body, "class", connected ? "online" : "offline");
    setText(part("connection"), connected ? "live" : "disconnected");
  },
  onState(next, changed) {
    const before = state;
    state = next;
    stateAt = performance.now();
    tick();
    if (changed.has("topics") || changed.has("buckets")) navigation();
    const area = current?.area;
    if (area && isOff(before, area) !== isOff(next, area)) route();
    current?.updates.refresh(changed);
  },
});
