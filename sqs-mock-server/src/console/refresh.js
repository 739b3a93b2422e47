/** When a view fetches again. */

/** Between two updates of a view. */
const PAUSE_MS = 250;

/**
 * Updates a view: one update at a time, with a pause after each. A hidden page waits until it is visible.
 * @param {{ update(changed: Set<string>): Promise<void> | void }} view
 * @param {(error: unknown) => void} fail
 * @returns {{ refresh(areas: Iterable<string>): void, close(): void }}
 */
export function updater(view, fail) {
  /** @type {Set<string>} */
  let pending = new Set();
  let running = false;
  let closed = false;
  const run = async () => {
    running = true;
    while (pending.size && !document.hidden && !closed) {
      const changed = pending;
      pending = new Set();
      try {
        await view.update(changed);
      } catch (error) {
        if (!closed) fail(error);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    running = false;
  };
  const wake = () => {
    if (!running) run();
  };
  document.addEventListener("visibilitychange", wake);
  return {
    refresh(areas) {
      for (const area of areas) pending.add(area);
      wake();
    },
    close() {
      closed = true;
      document.removeEventListener("visibilitychange", wake);
    },
  };
}
