/** The event stream of the server: it says which areas changed, and the views fetch those. */

import { send } from "./api.js";

/** @typedef {{ now: string, now_ms: number, frozen: boolean, offset_ms: number }} Clock */
/**
 * @typedef {{ queues: string, messages: string, requests: number, kept: number, faults: string, clock: Clock,
 *   topics: string | null, buckets: string | null }} State
 */

/** The server sends a comment every 15 s; without one for longer than this, the connection is dead. */
const SILENCE_MS = 40_000;
const MAX_BACKOFF_MS = 5_000;

/**
 * Reads the stream for ever, and connects again when it ends. After a new connection, all areas count as changed: another
 * server may have taken over.
 * @param {{ onState(state: State, changed: Set<string>): void, onConnection(connected: boolean): void }} listener
 */
export async function connect(listener) {
  for (let failures = 0; ; failures++) {
    /** @type {State | null} */
    let last = null;
    try {
      await read((state) => {
        failures = 0;
        if (!last) listener.onConnection(true);
        listener.onState(state, difference(last, state));
        last = state;
      });
    } catch {
      // The next attempt shows whether the server is back.
    }
    listener.onConnection(false);
    await new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** failures, MAX_BACKOFF_MS)));
  }
}

/**
 * The names of the areas that differ.
 * @param {State | null} before
 * @param {State} after
 */
function difference(before, after) {
  const names = /** @type {(keyof State)[]} */ (Object.keys(after));
  return new Set(names.filter((name) => !before || JSON.stringify(before[name]) !== JSON.stringify(after[name])));
}

/**
 * Reads one connection until it ends or is silent.
 * @param {(state: State) => void} onState
 */
async function read(onState) {
  const abort = new AbortController();
  let timer = setTimeout(() => abort.abort(), SILENCE_MS);
  try {
    const response = await send("GET", "/_mock/events", { background: true, signal: abort.signal, headers: { Accept: "text/event-stream" } });
    if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let pending = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE_MS);
      const blocks = (pending + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      pending = blocks.pop() ?? "";
      for (const block of blocks) parse(block, onState);
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} block the lines of one event, or a comment
 * @param {(state: State) => void} onState
 */
function parse(block, onState) {
  const lines = block.split(/\r?\n/);
  if (!lines.includes("event: state")) return;
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
  onState(JSON.parse(data.join("\n")));
}
