// What the server offers over HTTP besides SQS: failures on demand, and the record of requests.
import assert from "node:assert/strict";

export class Mock {
  constructor(endpoint) {
    this.endpoint = endpoint;
  }

  // Lets the next call of an action on a queue go wrong.
  async next(action, queue, effect) {
    await this.#call("faults", "POST", { effect, actions: [action], queue: queue.name, times: 1 });
  }

  // How many requests of an action a queue has had.
  async requests(action, queue) {
    const answer = await this.#call(`requests?limit=1000&action=${action}&queue=${queue.name}`, "GET");
    return answer.requests.length;
  }

  async #call(path, method, content) {
    const body = content && JSON.stringify(content);
    const answer = await fetch(`${this.endpoint}/_mock/${path}`, { method, body });
    assert.ok(answer.ok, `expected ${path} to work, got ${answer.status}`);
    return answer.json();
  }
}
