// Makes the screenshots of the guides: SCREENSHOTS=1.
import { join } from "node:path";
import { after, test } from "node:test";
import { Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const skip = !process.env.SCREENSHOTS;

async function orders(server) {
  await server.createQueue("orders-dlq");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("orders-dlq"), maxReceiveCount: "3" });
  await server.createQueue("orders", { RedrivePolicy });
  await server.createQueue("billing.fifo", { FifoQueue: "true" });
  for (const name of ["kitchen", "invoices", "uploads"]) await server.createQueue(name);
  const drinks = ["tea", "coffee", "juice", "water"];
  for (let order = 1; order <= 36; order++) {
    await server.send("orders", JSON.stringify({ order, drink: drinks[order % 4], table: 1 + (order % 7) }), { DelaySeconds: order > 30 ? 60 : 0 });
  }
  for (let table = 1; table <= 5; table++) {
    await server.send("billing.fifo", JSON.stringify({ table, total: 7 * table }), { MessageGroupId: `table-${table}`, MessageDeduplicationId: String(table) });
  }
  await server.send("orders-dlq", '{"order":0,"drink":"tee"}');
  await server.receive("orders", { MaxNumberOfMessages: 6 });
  await server.post("faults", { effect: "throttle", actions: ["SendMessage"], queue: "kitchen", times: 1 });
  await server.send("kitchen", "soup").catch(() => {});
  await server.send("kitchen", "soup");
  await server.send("kitchens", "soup").catch(() => {});
}

/** Traffic while the page is open, for its rates. */
async function traffic(server) {
  for (let round = 0; round < 20; round++) {
    await server.send("invoices", `invoice ${round}`);
    const [message] = await server.receive("invoices", { MaxNumberOfMessages: 1 });
    const QueueUrl = await server.createQueue("invoices");
    await server.sqs("DeleteMessage", { QueueUrl, ReceiptHandle: message.ReceiptHandle });
    await server.send("orders", JSON.stringify({ order: 36 + round, drink: "tea", table: 1 }));
  }
}

test("screenshots", { skip }, async () => {
  const stage = await Stage.open();
  after(() => stage.close());
  await orders(stage.server);
  const row = (name) => (page) => page.getByRole("grid").getByRole("row", { name }).first().click();
  const views = [
    ["queue", "#/queue/us-east-1/000000000000/orders", row(/"order":9\b/)],
    ["requests", "#/requests", row(/SendMessage kitchens/)],
    ["queues", "#/queues", () => traffic(stage.server)],
  ];
  for (const [name, hash, act] of views) {
    for (const scheme of ["light", "dark"]) {
      const save = async (page) => {
        await page.getByText("live", { exact: true }).waitFor();
        await act(page);
        await page.waitForTimeout(1000);
        await page.screenshot({ path: join(process.env.CONSOLE_PICTURES, `console-${name}-${scheme}.png`) });
      };
      await stage.visit(hash, save, { scheme });
    }
  }
});
