/** Modal dialogs: forms, and confirmations that ask for a name. */

import { fill, h } from "./dom.js";

/**
 * A field of a form. `type` is `text` (default), `number`, `textarea`, `select`, `checkbox` or `password`.
 * @typedef {{ name: string, label: string, type?: string, value?: string | number | boolean, options?: (string | [string, string])[],
 *   help?: string, required?: boolean, placeholder?: string, rows?: number, min?: number, max?: number, pattern?: string }} Field
 */
/** @typedef {Record<string, string>} Values checkboxes are "true" or "" */

let ids = 0;

/** What a text area was made with, and how it gives that back: with each line break as \n. @type {WeakMap<Element, { given: string, read: string }>} */
const texts = new WeakMap();

/** @param {Record<string, any>} properties */
export function textArea(properties) {
  const element = h("textarea", { spellcheck: "false", ...properties });
  texts.set(element, { given: properties.value, read: element.value });
  return element;
}

/** The text of a control; if nobody edited it, exactly the one that it was made with. @param {HTMLInputElement | HTMLTextAreaElement} control */
export function textOf(control) {
  const text = texts.get(control);
  return text && text.read === control.value ? text.given : control.value;
}

/**
 * A labelled control of a form.
 * @param {Field} field
 * @returns {HTMLElement}
 */
export function control(field) {
  const { name, label, type = "text", value, options, help, ...rest } = field;
  const id = `field-${++ids}`;
  const common = { id, name, ...rest, "aria-describedby": help ? `${id}-help` : null };
  const note = help ? h("small", { id: `${id}-help` }, help) : null;
  if (type === "checkbox") {
    const box = h("input", { ...common, type, value: "true", checked: Boolean(value) });
    return h("div", { class: "field check" }, box, h("label", { for: id }, label), note);
  }
  return h("div", { class: "field" }, h("label", { for: id }, label), input(type, common, value, options), note);
}

/**
 * @param {string} type
 * @param {Record<string, any>} properties
 * @param {string | number | boolean | undefined} value
 * @param {(string | [string, string])[]} [options]
 */
function input(type, properties, value, options = []) {
  const text = value === undefined ? "" : String(value);
  if (type === "textarea") return textArea({ rows: 6, ...properties, value: text });
  if (type !== "select") return h("input", { autocomplete: "off", spellcheck: "false", ...properties, type, value: text });
  const entries = options.map((option) => (typeof option === "string" ? [option, option] : option));
  const choices = entries.map(([key, title]) => h("option", { value: key }, title));
  return h("select", { ...properties, value: undefined }, choices.map((choice) => (choice.selected = choice.value === text, choice)));
}

/**
 * The values of all named controls.
 * @param {HTMLFormElement} form
 * @returns {Values}
 */
export function values(form) {
  /** @type {Values} */
  const found = {};
  for (const element of form.elements) {
    const control = /** @type {HTMLInputElement} */ (element);
    if (control.name) found[control.name] = control.type === "checkbox" && !control.checked ? "" : textOf(control);
  }
  return found;
}

/**
 * Shows a form until `run` succeeds or the user cancels. An error of `run` is shown in the dialog, which stays open.
 * @template T
 * @param {{ title: string, intro?: import("./dom.js").Child, fields: Field[], extra?: HTMLElement, submit: string, danger?: boolean,
 *   wide?: boolean, run(values: Values, form: HTMLFormElement): Promise<T> | T, changed?(form: HTMLFormElement): void }} options
 * @returns {Promise<T | null>} the result of `run`, or null if cancelled
 */
export function form(options) {
  const title = `dialog-${++ids}`;
  const problem = h("p", { class: "problem", role: "alert" });
  const submit = h("button", { type: "submit", class: options.danger ? "danger" : "primary" }, options.submit);
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const body = h(
    "form",
    { novalidate: false },
    h("h2", { id: title }, options.title),
    options.intro ? h("div", { class: "intro" }, options.intro) : null,
    options.fields.map(control),
    options.extra,
    problem,
    h("div", { class: "actions" }, cancel, submit),
  );
  const dialog = h("dialog", { class: options.wide ? "wide" : "", "aria-labelledby": title }, body);
  body.addEventListener("input", () => options.changed?.(body));
  options.changed?.(body);
  return new Promise((resolve) => {
    /** @type {T | null} */
    let result = null;
    body.addEventListener("submit", async (event) => {
      event.preventDefault();
      submit.disabled = true;
      fill(problem);
      try {
        result = await options.run(values(body), body);
        dialog.close();
      } catch (error) {
        fill(problem, error instanceof Error ? error.message : String(error));
      } finally {
        submit.disabled = false;
      }
    });
    const leave = () => dialog.close();
    addEventListener("hashchange", leave);
    dialog.addEventListener("close", () => (removeEventListener("hashchange", leave), dialog.remove(), resolve(result)));
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks before something is destroyed. With `type`, the user has to type this text.
 * @template T
 * @param {{ title: string, text: string, submit: string, type?: string, run(): Promise<T> | T }} options
 * @returns {Promise<T | null>}
 */
export function confirm({ title, text, submit, type, run }) {
  /** @type {Field[]} */
  const fields = type ? [{ name: "typed", label: `Type ${type} to confirm`, required: true }] : [];
  /** @param {HTMLFormElement} body */
  const changed = (body) => {
    const button = /** @type {HTMLButtonElement} */ (body.querySelector("button[type=submit]"));
    button.disabled = Boolean(type) && values(body).typed !== type;
  };
  return form({ title, intro: text, fields, submit, danger: true, run, changed });
}
