/** Elements that several views have. */

import { h } from "../dom.js";
import { fail } from "../notices.js";

/** @typedef {import("../dom.js").Child} Child */

/** A button; the page shows the error of its action. @type {(label: Child, run: () => unknown, style?: string, name?: string) => HTMLButtonElement} */
export function button(label, run, style = "", name) {
  const onclick = async () => {
    try {
      await run();
    } catch (error) {
      fail(error);
    }
  };
  return h("button", { type: "button", class: style, "aria-label": name, onclick }, label);
}

/**
 * A table; a column that starts with # has numbers, an empty one has buttons.
 * @param {string} label
 * @param {string[]} columns
 * @param {HTMLElement} body
 */
export function table(label, columns, body) {
  const heads = columns.map((name) => {
    const title = name ? name.replace("#", "") : h("span", { class: "visually-hidden" }, "Actions");
    return h("th", { scope: "col", class: name.startsWith("#") ? "num" : null }, title);
  });
  const rows = h("table", null, h("thead", null, h("tr", null, heads)), body);
  nameCells(rows, columns);
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, rows);
}

/**
 * Passes the titles of the columns to style.css: on a narrow screen each row is a card, and its cells have their titles.
 * @param {HTMLElement} table
 * @param {string[]} columns
 */
export function nameCells(table, columns) {
  columns.forEach((name, at) => table.style.setProperty(`--title-${at + 1}`, JSON.stringify(name.replace("#", ""))));
}

/** @type {(name?: string, ...children: Child[]) => HTMLElement} */
export const cell = (name = "", ...children) => h("td", { class: name }, ...children);

/** @param {string} text */
export const empty = (text) => h("p", { class: "empty", hidden: true }, text);

/** The title of a view, which gets the focus. @param {string} title */
export const heading = (title) => h("h1", { tabindex: "-1" }, title);

/** A link to the list above a view. @param {string} parent */
export const back = (parent) => h("p", null, h("a", { href: `#/${parent.toLowerCase()}` }, `← ${parent}`));

/** @type {(label: string, text: string) => HTMLElement} */
export const code = (label, text) => h("pre", { tabindex: "0", role: "region", "aria-label": label }, text);

/** Names and values; entries without a value are left out. @type {(entries: [string, Child][]) => HTMLElement} */
export const facts = (entries) =>
  h("dl", { class: "kv" }, entries.flatMap(([name, value]) => (value ? [h("dt", null, name), h("dd", null, value)] : [])));

/** @type {(label: string, control: HTMLElement) => HTMLElement} */
export const labelled = (label, control) => h("label", { class: "inline" }, h("span", { class: "muted" }, label), control);

/** @type {(name: string, placeholder: string, value?: string) => HTMLInputElement} */
export const search = (name, placeholder, value = "") =>
  h("input", { type: "search", name, placeholder, size: placeholder.length, "aria-label": placeholder, value, spellcheck: "false", autocomplete: "off" });

/**
 * Shows only the link back and `missing` while the subject of a view is gone.
 * @param {HTMLElement} root
 * @param {HTMLElement} missing
 * @param {boolean} gone
 */
export function showMissing(root, missing, gone) {
  if (missing.hidden !== gone) return;
  const parts = /** @type {HTMLElement[]} */ ([...root.children].slice(1));
  for (const part of parts) part.hidden = (part === missing) !== gone;
}
