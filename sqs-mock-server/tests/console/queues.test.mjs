import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { eventually, Stage } from "./browser.mjs";
import { arn } from "./server.mjs";

const stage = await Stage.open();
const { server } = stage;
after(() => stage.close());
beforeEach(() => server.reset());

const list = (page) => page.getByRole("region", { name: "Queues" });

test("queues_show_counts_and_dead_letter_links_both_ways", async () => {
  await server.createQueue("orders-dlq");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("orders-dlq"), maxReceiveCount: "3" });
  await server.createQueue("orders", { RedrivePolicy });
  for (const body of ["a", "b", "c"]) await server.send("orders", body);
  await server.send("orders", "later", { DelaySeconds: 900 });
  await server.receive("orders", { MaxNumberOfMessages: 1 });
  await stage.visit("#/queues", async (page) => {
    const row = list(page).locator("tr", { has: page.locator("td:first-child", { hasText: /^orders$/ }) });
    await row.waitFor();
    assert.deepEqual((await row.locator("td.num").allTextContents()).slice(0, 3), ["2", "1", "1"]);
    await row.getByRole("link", { name: "orders-dlq" }).waitFor();
    await list(page).getByRole("row", { name: /^orders-dlq/ }).getByRole("link", { name: "orders", exact: true }).waitFor();

    await page.getByLabel("Filter by name or tag").fill("dlq");
    assert.equal(await list(page).getByRole("row").count(), 2);
    await page.getByLabel("Filter by name or tag").fill("");
    await page.getByRole("button", { name: "Available" }).click();
    assert.match(await list(page).getByRole("row").nth(1).textContent(), /^orders(?!-)/);
    assert.equal(await page.getByRole("columnheader", { name: "Available" }).getAttribute("aria-sort"), "descending");
  });
});

test("rates_show_what_arrives_and_leaves", async () => {
  await server.createQueue("orders");
  await server.send("orders", "before");
  await stage.visit("#/queues", async (page) => {
    const row = list(page).getByRole("row", { name: /^orders/ });
    await row.waitFor();
    const rates = async () => (await row.locator("td.num").allTextContents()).slice(4, 6).map(Number);
    assert.deepEqual(await rates(), [0, 0]);
    for (const body of ["a", "b", "c"]) await server.send("orders", body);
    await eventually(async () => assert.ok((await rates())[0] > 0));
    assert.equal((await rates())[1], 0);
    await server.sqs("PurgeQueue", { QueueUrl: await server.createQueue("orders") });
    await eventually(async () => assert.ok((await rates())[1] > 0));
  });
});

test("json_is_indented_without_changing_its_values", async () => {
  await server.createQueue("orders");
  await server.send("orders", '{"id":12345678901234567890,"id":2,"empty":[ ],"text":"{\\"a\\": [1,2]}","list":[1.0,{}]}');
  await stage.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
    await page.getByRole("row", { name: /12345678901234567890/ }).click();
    const lines = ["{", '  "id": 12345678901234567890,', '  "id": 2,', '  "empty": [],', '  "text": "{\\"a\\": [1,2]}",', '  "list": [', "    1.0,", "    {}", "  ]", "}"];
    await page.getByRole("region", { name: "Message" }).first().getByText(lines.join("\n"), { exact: true }).waitFor();
    const kept = await page.evaluate(async () => {
      const { pretty } = await import("./format.js");
      const texts = ["[", "[]]", `{"a":"${"x\\n".repeat(350_000)}"}`, "[".repeat(2000) + "]".repeat(2000)];
      return texts.map((text) => pretty(text).replace(/\s/g, "") === text);
    });
    assert.deepEqual(kept, [true, true, true, true]);
  });
});

test("created_fifo_queue_takes_a_message_with_group_and_attributes", () =>
  stage.visit("#/queues", async (page) => {
    await page.getByRole("button", { name: "Create queue" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByLabel("FIFO", { exact: true }).check();
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "orders.fifo" }).click();

    await page.getByRole("button", { name: "Send message" }).click();
    await dialog.getByLabel("Body").fill('{"drink":"tea"}');
    await dialog.getByLabel("Message group id").fill("a");
    await dialog.getByLabel("Deduplication id").fill("1");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByLabel("Name").fill("kind");
    await dialog.getByLabel("Value").fill("hot");
    await dialog.getByRole("button", { name: "Send", exact: true }).click();

    await page.getByRole("row", { name: /drink/ }).click();
    const panel = page.getByRole("region", { name: "Message" }).first();
    await panel.getByText('"drink": "tea"').waitFor();
    const [message] = await server.messages("orders.fifo");
    assert.equal(message.group, "a");
    assert.equal(message.deduplication_id, "1");
    assert.equal(message.attributes.kind.StringValue, "hot");
    assert.equal(message.receive_count, 0);
  }));

const opened = "#/queue/us-east-1/000000000000/orders";

test("button_of_a_queue_that_loads_slowly_acts_as_soon_as_it_is_there", async () => {
  await server.createQueue("orders");
  await stage.visit("#/queues", async (page) => {
    await page.route("**/_mock/queues/orders?*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await route.continue();
    });
    await list(page).getByRole("link", { name: "orders" }).click();
    await page.getByRole("heading", { name: "orders" }).waitFor();
    await page.getByRole("button", { name: "Send message" }).press("Enter");
    await page.getByRole("dialog").waitFor({ timeout: 5_000 });
  });
});

test("one_message_is_deleted_and_the_queue_purged_after_its_name_is_typed", async () => {
  await server.createQueue("orders");
  for (const body of ["soup", "tea", "salad"]) await server.send("orders", body);
  await server.receive("orders", { MaxNumberOfMessages: 1 });
  await stage.visit(opened, async (page) => {
    await page.getByRole("button", { name: /^In flight/ }).click();
    await page.getByRole("button", { name: /^Available/ }).click();
    await page.getByRole("row", { name: /tea|salad/ }).first().click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await eventually(async () => assert.equal((await server.messages("orders")).length, 2));

    await page.getByRole("button", { name: "Purge" }).click();
    const dialog = page.getByRole("dialog");
    const purge = dialog.getByRole("button", { name: "Purge" });
    assert.equal(await purge.isDisabled(), true);
    await dialog.getByLabel("Type orders to confirm").fill("orders");
    await purge.click();
    await eventually(async () => assert.equal((await server.messages("orders")).length, 0));
    await page.getByRole("button", { name: "Why is a receive empty?" }).click();
    await page.getByText("the queue has no messages").waitFor();
  });
});

/** A queue whose messages are all in its dead-letter queue. */
async function deadLetters(bodies) {
  await server.createQueue("orders-dlq");
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn("orders-dlq"), maxReceiveCount: "1" });
  await server.createQueue("orders", { RedrivePolicy, VisibilityTimeout: "1" });
  for (const body of bodies) await server.send("orders", body);
  await server.receive("orders");
  await server.post("clock", { advance: 2 });
  await server.receive("orders");
  await eventually(async () => assert.equal((await server.messages("orders-dlq")).length, bodies.length));
}

test("dead_letter_is_edited_and_sent_again", async () => {
  await deadLetters(["soop"]);
  await stage.visit(`${opened}-dlq`, async (page) => {
    await page.getByRole("row", { name: /soop/ }).click();
    await page.getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Body").fill("soup");
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    assert.deepEqual((await server.messages("orders")).map(({ body }) => body), ["soup"]);
    assert.deepEqual(await server.messages("orders-dlq"), []);
  });
});

test("message_sent_again_keeps_every_character_and_is_sent_once_even_if_the_original_stays", async () => {
  await server.createQueue("orders");
  const MessageAttributes = { note: { DataType: "String", StringValue: "one\r\ntwo" } };
  await server.send("orders", "first\r\nsecond", { MessageAttributes });
  await stage.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
    await page.route(/_mock\/messages\//, (route) => route.abort());
    await page.getByRole("row", { name: /first/ }).click();
    await page.getByRole("button", { name: "Edit and send again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Delete the original").check();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(/Message .* is sent to orders/).waitFor();
    await page.getByText("Failed to fetch").waitFor();
  });
  const [original, copy, ...others] = await server.messages("orders");
  assert.deepEqual(others, []);
  assert.equal(copy.body, original.body);
  assert.deepEqual(copy.attributes, original.attributes);
});

test("failed_preparation_of_a_dialog_is_shown", async () => {
  await server.createQueue("orders");
  await stage.visit("#/queue/us-east-1/000000000000/orders", async (page) => {
    await page.getByRole("button", { name: "Settings" }).click();
    await page.route(/_mock\/queues\?/, (route) => route.abort());
    await page.getByRole("button", { name: "Edit attributes" }).click();
    await page.getByText("Failed to fetch").waitFor();
  });
});

test("created_queue_is_offered_only_queues_that_fit_for_its_dead_letters", async () => {
  await server.createQueue("plain");
  await server.createQueue("ordered.fifo", { FifoQueue: "true" });
  await stage.visit("#/queues", async (page) => {
    await page.getByRole("link", { name: "plain" }).waitFor();
    await page.getByRole("button", { name: "Create queue" }).click();
    const dialog = page.getByRole("dialog");
    const offered = () => dialog.getByLabel("Dead-letter queue").locator("option:not([hidden])").allTextContents();
    assert.deepEqual(await offered(), ["none", "plain"]);
    await dialog.getByLabel("Dead-letter queue").selectOption("plain");
    await dialog.getByLabel("FIFO", { exact: true }).check();
    assert.deepEqual(await offered(), ["none", "ordered.fifo"]);
    assert.equal(await dialog.getByLabel("Dead-letter queue").inputValue(), "");
    await dialog.getByLabel("Region").fill("eu-west-1");
    assert.deepEqual(await offered(), ["none"]);
  });
});

test("redrive_moves_dead_letters_back_and_can_be_cancelled", async () => {
  await deadLetters(["a", "b", "c", "d"]);
  await stage.visit(`${opened}-dlq`, async (page) => {
    await server.post("clock", { frozen: true });
    await page.getByRole("button", { name: "Redrive", exact: true }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Messages per second").fill("1");
    await dialog.getByRole("button", { name: "Redrive" }).click();
    await page.getByRole("button", { name: "Cancel task" }).click();
    await page.getByText("cancelled", { exact: true }).waitFor();

    await server.post("clock", { frozen: false });
    await page.getByRole("button", { name: "Start redrive" }).click();
    await dialog.getByRole("button", { name: "Redrive" }).click();
    await eventually(async () => assert.deepEqual(await server.messages("orders-dlq"), []));
    assert.equal((await server.messages("orders")).length, 4);
    await page.getByText("completed", { exact: true }).waitFor();
  });
});

test("attributes_and_tags_are_edited", async () => {
  await server.createQueue("orders");
  await stage.visit(opened, async (page) => {
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Edit attributes" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Visibility timeout (s)").fill("90");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit tags" }).click();
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByLabel("Name").fill("team");
    await dialog.getByLabel("Value").fill("kitchen");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const queue = await server.get("queues/orders");
    assert.equal(queue.attributes.VisibilityTimeout, "90");
    assert.deepEqual(queue.tags, { team: "kitchen" });
  });
});

test("envelope_of_a_topic_is_unwrapped_and_pointer_to_s3_resolved", async () => {
  await server.createQueue("orders");
  const topic = arn("news", "sns");
  await server.send("orders", JSON.stringify({ Type: "Notification", MessageId: "1", TopicArn: topic, Subject: "Lunch", Message: '{"drink":"tea"}' }));
  await server.s3("PUT", "/payloads/big", "a large payload");
  const pointer = ["software.amazon.payloadoffloading.PayloadS3Pointer", { s3BucketName: "payloads", s3Key: "big" }];
  await server.send("orders", JSON.stringify(pointer));
  await stage.visit(opened, async (page) => {
    await page.getByRole("row", { name: /SNS {"drink":"tea"}/ }).click();
    await page.getByText('"drink": "tea"').waitFor();
    await page.getByText("Lunch", { exact: false }).first().waitFor();
    await page.getByRole("row", { name: /PayloadS3Pointer/ }).click();
    await page.getByText("a large payload").waitFor();
  });
});

test("copied_line_does_what_the_page_did", async () => {
  await server.createQueue("orders");
  await stage.visit(opened, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Send message" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Body").fill("it's tea");
    await dialog.getByRole("button", { name: "Send", exact: true }).click();
    const menu = page.locator("#notices details");
    for (const [name, line] of [["boto3", 'sqs.send_message(QueueUrl="'], ["AWS CLI", "aws sqs send-message"], ["Rust", ".send_message()"]]) {
      await menu.locator("summary").click();
      await menu.getByRole("button", { name }).click();
      await eventually(async () => assert.ok((await page.evaluate(() => navigator.clipboard.readText())).includes(line), name));
    }
  });
});

test("trigger_of_a_queue_shows_its_invocations", async () => {
  await server.createQueue("orders");
  await server.post("triggers", { queue: "orders", url: "http://127.0.0.1:1/hook" });
  await server.send("orders", "tea");
  await stage.visit(opened, async (page) => {
    await page.getByRole("button", { name: "Triggers" }).click();
    await page.getByRole("region", { name: "Triggers" }).getByText("cannot connect").waitFor();
    const invocations = page.getByRole("region", { name: "Latest invocations" });
    await invocations.getByText("1 of 1 message stays in the queue").first().waitFor();
  });
});
