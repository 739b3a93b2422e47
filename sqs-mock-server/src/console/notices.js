/** Results of actions, at the bottom of the page and in its live region. */

import { copyMenu } from "./copy.js";
import { h } from "./dom.js";

/** @typedef {import("./copy.js").Call} Call */

const SHOWN_MS = 6000;
const MAX = 3;

/**
 * Shows a line until it is dismissed; a repeated text replaces the earlier one. Good news disappear after a while, unless they have the pointer or the focus.
 * @param {string} text
 * @param {"good" | "bad"} kind
 * @param {Call} [call]
 */
function notice(text, kind, call) {
  const line = h("div", { class: `notice ${kind}` }, h("p", null, text), call ? copyMenu(() => call) : null);
  line.append(h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => line.remove() }, "×"));
  const all = /** @type {HTMLElement} */ (document.getElementById("notices"));
  for (const other of [...all.children]) if (other.className === line.className && other.firstChild?.textContent === text) other.remove();
  all.append(line);
  while (all.children.length > MAX) all.firstElementChild?.remove();
  if (kind === "bad") return;
  const timer = setInterval(() => {
    if (line.matches(":hover, :focus-within")) return;
    clearInterval(timer);
    line.remove();
  }, SHOWN_MS);
}

/** @type {(text: string, call?: Call) => void} */
export const done = (text, call) => notice(text, "good", call);

/** @type {(error: unknown) => void} */
export const fail = (error) => notice(error instanceof Error ? error.message : String(error), "bad");

/**
 * Runs an action and shows its result. Whether it succeeded.
 * @param {string} text the result of a success
 * @param {() => Promise<unknown>} run
 * @param {Call} [call]
 */
export async function act(text, run, call) {
  try {
    await run();
    done(text, call);
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}
