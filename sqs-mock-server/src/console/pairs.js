/** Editors of names and values in a form: message attributes, tags. */

import { textArea, textOf } from "./dialog.js";
import { h } from "./dom.js";

/** @typedef {{ name: string, type: string, value: string }} Pair */

/**
 * @param {string} title
 * @param {Pair[]} initial
 * @param {string[]} [types] offered types; none for plain names and values
 * @returns {{ element: HTMLElement, read(): Pair[] }} rows without a name are left out
 */
export function pairs(title, initial, types = []) {
  const rows = h("div", { class: "pairs" });
  /** @type {{ row: HTMLElement, read(): Pair }[]} */
  const all = [];
  const add = (/** @type {Pair} */ { name, type, value }) => {
    const key = h("input", { "aria-label": "Name", placeholder: "Name", value: name, autocomplete: "off", spellcheck: "false" });
    const text = textArea({ "aria-label": "Value", placeholder: "Value", rows: 1, value });
    const options = [...types, ...(type && !types.includes(type) ? [type] : [])];
    const kind = h("select", { "aria-label": "Type" }, options.map((option) => h("option", null, option)));
    if (type) kind.value = type;
    const drop = () => {
      all.splice(all.indexOf(entry), 1);
      row.remove();
      more.focus();
    };
    const row = h("div", { class: types.length ? "pair typed" : "pair" }, key, types.length ? kind : null, text,
      h("button", { type: "button", class: "quiet", "aria-label": `Remove ${name || "this row"}`, onclick: drop }, "Remove"));
    const entry = { row, read: () => ({ name: key.value.trim(), type: kind.value, value: textOf(text) }) };
    all.push(entry);
    rows.append(row);
    return key;
  };
  const more = h("button", { type: "button", onclick: () => add({ name: "", type: types[0] ?? "", value: "" }).focus() }, "Add");
  initial.forEach(add);
  return {
    element: h("fieldset", { class: "pairs" }, h("legend", null, title), rows, more),
    read: () => all.map((entry) => entry.read()).filter(({ name }) => name),
  };
}
