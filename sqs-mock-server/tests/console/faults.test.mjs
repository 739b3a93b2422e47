import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

const faults = async () => (await server.get("faults")).map(({ fault }) => fault);

test("added_fault_shows_its_hits_and_is_removed", () =>
  stage.visit("#/faults", async (page) => {
    const url = await server.createQueue("orders");
    await page.getByText("No fault is armed").waitFor();
    await page.getByRole("button", { name: "Add fault" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Effect").selectOption("error");
    await dialog.getByLabel("Error code").fill("InternalError");
    await dialog.getByLabel("Error message").fill("busy");
    await dialog.getByLabel("Actions").fill("SendMessage, SendMessageBatch");
    await dialog.getByLabel("Queue").fill("orders");
    await dialog.getByLabel("At most times").fill("2");
    await dialog.getByRole("button", { name: "Add" }).click();
    const row = page.getByRole("row", { name: /error, code InternalError, message busy/ });
    await row.waitFor();
    const expected = { effect: "error", code: "InternalError", message: "busy", queue: "orders", times: 2 };
    assert.deepEqual(await faults(), [{ ...expected, actions: ["SendMessage", "SendMessageBatch"] }]);

    const headers = { "x-amz-target": "AmazonSQS.SendMessage", "content-type": "application/x-amz-json-1.0" };
    const body = JSON.stringify({ QueueUrl: url, MessageBody: "tea" });
    for (let time = 0; time < 2; time++) {
      assert.equal((await server.request("POST", "/", { headers, body })).status, 500);
    }
    await row.getByText("spent").waitFor();
    assert.equal(await row.getByRole("cell").nth(3).textContent(), "2");
    await row.getByRole("button", { name: "Remove fault" }).click();
    await page.getByText("No fault is armed").waitFor();
    assert.deepEqual(await faults(), []);
  }));

// Every effect and condition: the fields of the form, and the fault that the server has then.
const cases = [
  ["sqs", { "Effect": "status", "Status": "503", "Body": "busy", "Body contains": "tea", "Message group": "a" },
    { effect: "status", status: 503, body: "busy", body_contains: "tea", group: "a" }],
  ["sqs", { "Effect": "latency", "Delay (ms)": "5", "At most (ms)": "50", "Probability": "0.05", "Skip the first": "1", "Only above a rate (1/s)": "300" },
    { effect: "latency", latency_ms: 5, max_latency_ms: 50, probability: 0.05, skip: 1, above: 300 }],
  ["sqs", { "Effect": "fail_entries", "Error code": "InternalError", "Sender fault": "true", "Positions in a batch": "0, 3" },
    { effect: "fail_entries", code: "InternalError", sender_fault: true, entries: [0, 3] }],
  ["s3", { "Effect": "pace", "Bytes per second": "100000", "Bucket": "orders", "Key prefix": "2026/" },
    { effect: "pace", bytes_per_second: 100_000, bucket: "orders", key_prefix: "2026/", service: "s3" }],
  ["sns", { "Effect": "throttle", "Topic": "orders", "Error message": "slow" },
    { effect: "throttle", topic: "orders", message: "slow", service: "sns" }],
  ["sts", { "Effect": "reset_before" }, { effect: "reset_before", service: "sts" }],
  ...["reset_after", "truncate", "corrupt", "omit_entries"].map((effect) => ["sqs", { Effect: effect }, { effect }]),
  ["sqs", { Effect: "redeliver" }, { effect: "redeliver", actions: ["ReceiveMessage"] }],
];

test("form_offers_every_effect_and_condition", () =>
  stage.visit("#/faults", async (page) => {
    for (const [service, fields, expected] of cases) {
      await page.getByRole("button", { name: "Add fault" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Service").selectOption(service);
      for (const [label, value] of Object.entries(fields)) {
        const field = dialog.getByLabel(label, { exact: true });
        const choice = await field.evaluate((element) => element.tagName === "SELECT");
        await (choice ? field.selectOption(value) : field.fill(value));
      }
      await dialog.getByRole("button", { name: "Add" }).click();
      await dialog.waitFor({ state: "detached" });
      assert.deepEqual((await faults()).at(-1), expected);
    }
    await page.getByRole("button", { name: "Remove all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove all" }).click();
    await eventually(async () => assert.deepEqual(await faults(), []));
  }));

test("form_shows_the_error_of_the_server_and_stays_open", () =>
  stage.visit("#/faults", async (page) => {
    await page.getByRole("button", { name: "Throttle twice" }).click();
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByLabel("At most times").inputValue(), "2");
    await dialog.getByLabel("Actions").fill("SendMesage");
    await dialog.getByRole("button", { name: "Add" }).click();
    await dialog.getByRole("alert").filter({ hasText: "SendMesage" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }));
