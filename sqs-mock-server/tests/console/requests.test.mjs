import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

const row = (page, name) => page.getByRole("row", { name });

test("click_shows_request_and_answer", () =>
  stage.visit("#/requests?service=sqs", async (page) => {
    await server.createQueue("orders");
    const { MessageId } = await server.send("orders", '{"drink":"tea"}');
    await row(page, /SendMessage/).click();
    const panel = page.getByRole("region", { name: /^Request \d+/ });
    await panel.getByRole("heading", { name: /SQS SendMessage/ }).waitFor();
    assert.match(await panel.getByLabel("Request", { exact: true }).textContent(), /"MessageBody": "\{\\"drink/);
    assert.match(await panel.getByLabel("Response", { exact: true }).textContent(), new RegExp(MessageId));
    assert.match(await panel.getByRole("link", { name: "orders" }).getAttribute("href"), /#\/queue\/us-east-1\/000000000000\/orders/);

    await page.keyboard.press("ArrowDown");
    await page.getByRole("heading", { name: /SQS CreateQueue/ }).waitFor();
  }));

test("slow_click_selects_a_row_while_the_list_changes", () =>
  stage.visit("#/requests", async (page) => {
    await server.createQueue("orders");
    await row(page, /CreateQueue/).waitFor();
    const first = page.getByRole("row").nth(1);
    for (const part of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      const { width, height } = await first.boundingBox();
      // It waits until the row no longer moves.
      await first.hover({ position: { x: width * part, y: height / 2 } });
      await page.mouse.down();
      await server.send("orders", "tea");
      await eventually(async () => assert.match(await first.textContent(), /SendMessage/));
      await page.mouse.up();
      await page.getByRole("heading", { name: /SQS SendMessage/ }).waitFor();
      await page.getByRole("button", { name: "Clear" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Clear" }).click();
      await page.getByText("Select a request").waitFor();
      await server.sqs("ListQueues", {});
      await row(page, /ListQueues/).waitFor();
    }
  }));

test("request_without_an_action_is_shown", () =>
  stage.visit("#/requests", async (page) => {
    await server.request("POST", "/", { headers: { "content-type": "application/x-amz-json-1.0" }, body: "{}" });
    await row(page, /unknown/).click();
    await page.getByRole("heading", { name: /^SQS unknown action/ }).waitFor();
  }));

test("failed_requests_stand_out_and_filters_narrow_the_list", () =>
  stage.visit("#/requests", async (page) => {
    await server.createQueue("orders");
    await server.createQueue("kitchen");
    await assert.rejects(server.send("nowhere", "tea"));
    await row(page, /SendMessage.*nowhere/).locator(".bad", { hasText: "400" }).waitFor();
    await page.getByLabel("Action, queue, topic or bucket").fill("create");
    await page.getByText("2 requests").waitFor();
    await page.getByLabel("Action, queue, topic or bucket").fill("Kitch");
    await page.getByText("1 request", { exact: true }).waitFor();
    await row(page, /CreateQueue.*kitchen/).waitFor();
  }));

test("paused_list_waits_until_it_continues", () =>
  stage.visit("#/requests", async (page) => {
    await server.createQueue("orders");
    await row(page, /CreateQueue/).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await server.send("orders", "tea");
    // Another page shows when the change would have been here.
    await stage.visit("#/requests", (other) => row(other, /SendMessage/).waitFor());
    assert.equal(await row(page, /SendMessage/).count(), 0);
    await page.getByRole("button", { name: "Pause" }).click();
    await row(page, /SendMessage/).waitFor();
  }));

test("cleared_journal_is_empty", () =>
  stage.visit("#/requests", async (page) => {
    await server.createQueue("orders");
    await row(page, /CreateQueue/).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear" }).click();
    await eventually(async () => assert.equal(await row(page, /CreateQueue/).count(), 0));
    assert.equal((await server.get("requests?action=CreateQueue")).total, 0);
  }));

test("request_that_the_server_forgot_is_no_longer_shown", () =>
  stage.visit("#/requests", async (page) => {
    await server.createQueue("orders");
    await row(page, /CreateQueue/).click();
    const panel = page.getByRole("region", { name: /^Request \d+/ });
    await panel.waitFor();
    await server.send("orders", "tea");
    await row(page, /SendMessage/).waitFor();
    assert.ok(await panel.isVisible());
    await server.reset();
    await page.getByText("Select a request to see it").waitFor();
  }));
