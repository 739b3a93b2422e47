// What the steps of the tour assert with.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export const equal = assert.deepEqual;

export function only(things) {
  assert.equal(things?.length, 1, `expected one thing, got ${JSON.stringify(things)}`);
  return things[0];
}

// A call that the server refuses with this error class, name, code of the Query protocol and status.
export async function refused(type, code, status, call) {
  let answer;
  try {
    answer = await call();
  } catch (error) {
    assert.equal(error.constructor, type, `expected ${type.name} (${code}), got ${error}`);
    assert.equal(error.Code, code, `expected ${code}, got ${error.Code}`);
    assert.equal(error.$metadata.httpStatusCode, status);
    assert.equal(error.$fault, "client");
    assert.ok(error.$metadata.requestId, "expected a request id");
    return;
  }
  assert.fail(`expected ${code}, got ${JSON.stringify(answer)}`);
}

// Looks until it is so: what the server does in the background takes it a moment.
export async function eventually(what, look) {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await look()) {
      return;
    }
    await sleep(10);
  }
  assert.fail(`expected that ${what}, which did not come`);
}

// The MD5 of message attributes, which the client does not compare by itself.
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
