// What holds for all views: pages stay in step, an idle page is silent, and a lost server is shown.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

test("two_pages_stay_in_step", () =>
  stage.visit("#/faults", (first) =>
    stage.visit("#/faults", async (second) => {
      await server.post("faults", { effect: "throttle" });
      for (const page of [first, second]) {
        await page.getByRole("button", { name: "Remove fault" }).waitFor();
      }
      await first.getByRole("button", { name: "Remove fault" }).click();
      await second.getByText("No fault is armed").waitFor();

      await second.goto(`${server.url}/_mock/console/#/clock`);
      await second.getByRole("button", { name: "Freeze" }).click();
      await first.locator("#clock", { hasText: "frozen" }).waitFor();
    }),
  ));

const ORDERS = "us-east-1/000000000000/orders";
const VIEWS = ["#/queues", `#/queue/${ORDERS}`, `#/queue/${ORDERS} Settings`, `#/queue/${ORDERS} Redrive`, "#/requests", "#/clock", "#/faults"]
  .concat(["#/topics", "#/topic/us-east-1/000000000000/prices", "#/buckets", "#/bucket/payloads"]);

for (const view of VIEWS) {
  test(`idle_page_makes_no_request_besides_its_stream_and_leaves_no_trace ${view}`, async () => {
    const [hash, tab] = view.split(" ");
    await server.createQueue("orders");
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("orders"), maxReceiveCount: "3" });
    await server.createQueue("source", { RedrivePolicy });
    await server.sns("CreateTopic", { Name: "prices" });
    await server.send("orders", "tea");
    for (const service of ["sqs", "sns", "s3"]) await server.post("faults", { effect: "throttle", service });
    const { total } = await server.get("requests");
    await stage.visit(hash, async (page) => {
      await page.getByText("live", { exact: true }).waitFor();
      if (tab) await page.getByRole("group", { name: "Parts of the queue" }).getByRole("button", { name: tab }).click();
      let latest = Date.now();
      page.on("request", () => (latest = Date.now()));
      await eventually(() => assert.ok(Date.now() - latest > 3000, "the page makes requests again and again"));
    });
    assert.equal((await server.get("requests")).total, total);
    const faults = await server.get("faults");
    assert.deepEqual(faults.map(({ hits }) => hits), [0, 0, 0]);
  });
}

test("lost_server_is_shown", async () => {
  const lost = await Stage.open();
  try {
    const page = await lost.page("#/queues");
    await page.getByText("live", { exact: true }).waitFor();
    await lost.server.stop();
    await page.getByText("disconnected").waitFor();
  } finally {
    await lost.close();
  }
});

test("server_without_s3_opens_each_view_once", async () => {
  const plain = await Stage.open([], { s3: false });
  try {
    await plain.visit("#/faults?actions=SendMessage", async (page) => {
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Actions").waitFor();
      await page.getByText("live", { exact: true }).waitFor();
      await page.waitForTimeout(300);
      assert.equal(await dialog.count(), 1);
      await page.evaluate(() => (location.hash = "#/buckets"));
      await page.getByText("This server does not run this service").waitFor();
      assert.equal(await dialog.count(), 0);
      await page.goBack();
      await page.getByRole("heading", { name: "Faults", exact: true }).waitFor();
      assert.equal(await dialog.count(), 0);
    });
  } finally {
    await plain.close();
  }
});

test("page_follows_a_server_that_records_nothing", async () => {
  const silent = await Stage.open(["--journal", "0"]);
  try {
    await silent.server.createQueue("orders");
    await silent.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByText("live", { exact: true }).waitFor();
      await silent.server.sqs("TagQueue", { QueueUrl: `${silent.server.url}/000000000000/orders`, Tags: { team: "kitchen" } });
      await page.getByText("kitchen").waitFor();
    });
  } finally {
    await silent.close();
  }
});
