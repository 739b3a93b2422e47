// Assertions of the tour.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export const equal = assert.deepEqual;

export function only(things) {
  assert.equal(things?.length, 1, `expected one element, got ${JSON.stringify(things)}`);
  return things[0];
}

// Asserts that a call fails with this error class, code of the Query protocol and status. Returns the message.
export async function rejected(type, code, status, call) {
  let response;
  try {
    response = await call();
  } catch (error) {
    assert.equal(error.constructor, type, `expected ${type.name} (${code}), got ${error}`);
    assert.equal(error.Code, code, `expected ${code}, got ${error.Code}`);
    assert.equal(error.$metadata.httpStatusCode, status);
    assert.equal(error.$fault, "client");
    assert.ok(error.$metadata.requestId, "expected a request id");
    return error.message;
  }
  assert.fail(`expected ${code}, got ${JSON.stringify(response)}`);
}

// Waits for background work of the server: repeats the condition until it is true.
export async function eventually(what, condition) {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await condition()) {
      return;
    }
    await sleep(10);
  }
  assert.fail(`timeout: expected that ${what}`);
}

// The MD5 digest of message attributes. The client does not verify it.
export function checksum(attributes) {
  const hash = createHash("md5");
  const part = (bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  };
  for (const name of Object.keys(attributes).sort()) {
    const { DataType, StringValue, BinaryValue } = attributes[name];
    part(Buffer.from(name));
    part(Buffer.from(DataType));
    hash.update(Buffer.of(BinaryValue ? 2 : 1));
    part(BinaryValue ? Buffer.from(BinaryValue) : Buffer.from(StringValue));
  }
  return hash.digest("hex");
}
