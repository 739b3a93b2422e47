// The admin API of the server: injected faults and recorded requests.
import assert from "node:assert/strict";

export class Mock {
  constructor(endpoint) {
    this.endpoint = endpoint;
  }

  // Injects a fault into the next request of an action on a queue.
  async next(action, queue, effect) {
    await this.#call("faults", "POST", { effect, actions: [action], queue: queue.name, times: 1 });
  }

  // The number of requests of an action on a queue.
  async requests(action, queue) {
    const response = await this.#call(`requests?limit=1000&action=${action}&queue=${queue.name}`, "GET");
    return response.requests.length;
  }

  async #call(path, method, content) {
    const body = content && JSON.stringify(content);
    const response = await fetch(`${this.endpoint}/_mock/${path}`, { method, body });
    assert.ok(response.ok, `${path} failed with status ${response.status}`);
    return response.json();
  }
}
