// Starts the server for the tests of one file, and calls it without a browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const account = "000000000000";
const region = "us-east-1";

/** Runs a program until it prints a line with a URL, and resolves to the process and the URL. */
async function launch(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/https?:\/\/\S+/)?.[0];
    if (url) {
      child.stdout.resume();
      return { child, url: url.replace(/\/$/, "") };
    }
  }
  throw new Error(`${program} did not start`);
}

export class Server {
  #children = [];
  #directory = "";
  #agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

  /** Starts a server with S3, unless `s3` is false. */
  static async start(flags = [], { s3 = true } = {}) {
    const server = new Server();
    server.#directory = await mkdtemp(join(tmpdir(), "console-"));
    const storage = s3 ? ["--with-s3", server.#directory, "--s3-port", "0"] : ["--no-s3"];
    const { child, url } = await launch(process.env.CONSOLE_BINARY, ["--port", "0", "--log", "error", ...storage, ...flags]);
    server.#children.push(child);
    server.url = url;
    if (process.env.CONSOLE_DEV) {
      const dev = await launch(process.execPath, [process.env.CONSOLE_DEV, url]);
      server.#children.push(dev.child);
      server.url = dev.url;
    }
    return server;
  }

  async stop() {
    this.#agent.destroy();
    this.#children.forEach((child) => child.kill());
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Sends a request; the body of the response is text. */
  request(method, path, { headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
      const request = http.request(this.url + path, { method, headers, agent: this.#agent }, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("end", () => {
          const bytes = Buffer.concat(parts);
          resolve({ status: response.statusCode, headers: response.headers, bytes, text: bytes.toString() });
        });
        response.on("error", reject);
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  async get(path) {
    const response = await this.request("GET", `/_mock/${path}`);
    assert.equal(response.status, 200, `GET ${path}: ${response.text}`);
    return JSON.parse(response.text);
  }

  async post(path, content) {
    const response = await this.request("POST", `/_mock/${path}`, { body: content && JSON.stringify(content) });
    assert.ok(response.status < 300, `POST ${path}: ${response.text}`);
    return JSON.parse(response.text);
  }

  reset() {
    return this.post("reset");
  }

  async sqs(action, input) {
    const headers = { "x-amz-target": `AmazonSQS.${action}`, "content-type": "application/x-amz-json-1.0" };
    const response = await this.request("POST", "/", { headers, body: JSON.stringify(input) });
    assert.equal(response.status, 200, `${action}: ${response.text}`);
    return response.text ? JSON.parse(response.text) : {};
  }

  async sns(action, input) {
    const form = new URLSearchParams({ Action: action, Version: "2010-03-31", ...input });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await this.request("POST", "/", { headers, body: form.toString() });
    assert.equal(response.status, 200, `${action}: ${response.text}`);
    return response.text;
  }

  /** Sends a request to S3; the bucket `payloads` always exists. */
  async s3(method, path, body) {
    const scope = "Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    const headers = { authorization: `AWS4-HMAC-SHA256 ${scope}` };
    const response = await this.request(method, path, { headers, body });
    assert.ok(response.status < 300, `${method} ${path}: ${response.text}`);
  }

  async createQueue(name, attributes = {}) {
    return (await this.sqs("CreateQueue", { QueueName: name, Attributes: attributes })).QueueUrl;
  }

  send(name, body, more = {}) {
    return this.sqs("SendMessage", { QueueUrl: `${this.url}/${account}/${name}`, MessageBody: body, ...more });
  }

  /** Receives messages without deleting them. */
  async receive(name, more = {}) {
    const input = { QueueUrl: `${this.url}/${account}/${name}`, MaxNumberOfMessages: 10, ...more };
    return (await this.sqs("ReceiveMessage", input)).Messages ?? [];
  }

  async messages(name) {
    return (await this.get(`messages?queue=${name}`)).messages;
  }
}

export function arn(name, service = "sqs") {
  return `arn:aws:${service}:${region}:${account}:${name}`;
}
