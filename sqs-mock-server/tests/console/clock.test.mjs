import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, Stage } from "./browser.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

test("freeze_and_advance_change_the_clock_of_the_server", () =>
  stage.visit("#/clock", async (page) => {
    await page.getByRole("button", { name: "Freeze" }).click();
    await page.getByText("Frozen; ").waitFor();
    const before = await server.get("clock");
    assert.equal(before.frozen, true);

    await page.getByRole("button", { name: "+ 4 days" }).click();
    await page.getByText("The clock advanced by 4 days").waitFor();
    assert.equal((await server.get("clock")).now_ms - before.now_ms, 4 * 86_400_000);

    await page.getByLabel("Advance by").fill("1h 30m");
    await page.getByRole("button", { name: "Advance", exact: true }).click();
    await page.getByText("The clock advanced by 1h 30m").waitFor();
    assert.equal((await server.get("clock")).now_ms - before.now_ms, 4 * 86_400_000 + 90 * 60_000);

    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText(/^Running, 4 d 1 h ahead/).waitFor();
    assert.equal((await server.get("clock")).frozen, false);
  }));

test("move_to_an_earlier_time_shows_the_error_of_the_server", () =>
  stage.visit("#/clock", async (page) => {
    await page.getByLabel("Move to (UTC)").fill("2020-01-01 00:00:00");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.locator("#notices .bad").waitFor();
    await page.getByLabel("Move to (UTC)").fill("2080-01-01 00:00:00");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await eventually(async () => assert.match((await server.get("clock")).now, /^2080-01-01T00:00/));
  }));

test("clock_that_was_frozen_and_resumed_is_behind", async () => {
  await server.post("clock", { frozen: true });
  await sleep(1100);
  await server.post("clock", { frozen: false });
  await stage.visit("#/queues", (page) => page.getByText(/UTC · behind/).waitFor());
});

test("reset_requires_the_typed_word", () =>
  stage.visit("#/clock", async (page) => {
    await server.createQueue("orders");
    await page.getByRole("button", { name: "Reset the server" }).click();
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByRole("button", { name: "Reset" }).isDisabled(), true);
    await dialog.getByLabel("Type reset to confirm").fill("reset");
    await dialog.getByRole("button", { name: "Reset" }).click();
    await page.getByText("The server is reset").waitFor();
    assert.equal((await server.get("queues")).total, 0);
  }));
