import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { Keep } from "../src/keep";

function withFolder(run: (folder: string) => Promise<void>) {
  return async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "keep-"));
    try {
      await run(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

test(
  "what was set is there for the next window, the last value of many",
  withFolder(async (folder) => {
    const keep = new Keep(folder);
    await Promise.all(Array.from({ length: 50 }, (_, at) => keep.set("draft", at)));
    assert.equal(new Keep(folder).get("draft"), 49);
    assert.deepEqual(JSON.parse(readFileSync(path.join(folder, "kept.json"), "utf8")), { draft: 49 });
  }),
);

test(
  "a value set at the very end of a write is written too",
  withFolder(async (folder) => {
    const keep = new Keep(folder);
    for (let at = 0; at < 200; at += 1) {
      await keep.set("a", at);
      void keep.set("b", at);
      await keep.set("c", at);
    }
    assert.deepEqual(JSON.parse(readFileSync(path.join(folder, "kept.json"), "utf8")), { a: 199, b: 199, c: 199 });
  }),
);

test(
  "a damaged file is begun anew",
  withFolder(async (folder) => {
    writeFileSync(path.join(folder, "kept.json"), "{");
    const keep = new Keep(folder);
    await keep.set("a", 1);
    assert.equal(new Keep(folder).get("a"), 1);
  }),
);

test("without a folder it holds while the window lives", async () => {
  const keep = new Keep(undefined);
  await keep.set("a", 1);
  assert.equal(keep.get("a"), 1);
});
