import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { DraftKeep } from "../src/draft_keep";
import { Keep } from "../src/keep";
import { Handover } from "../src/webview/handover";

const MEGABYTE = "a line of a log\n".repeat(70_000);

/** What a window does with its folder; `next` is the window after a reload. */
function withWindow(run: (next: () => DraftKeep, folder: string) => Promise<void>) {
  return async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "draft-"));
    try {
      await run(() => new DraftKeep(new Keep(folder), path.join(folder, "large")), folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

const handoverTo = (drafts: DraftKeep) => new Handover((piece) => drafts.take(piece), (refs) => drafts.refer(refs));
const typed = (text: string) => ({ text, mentions: {} });
const pasted = (id: string, text: string) => ({ pictures: [], pasted: [{ id, text }] });

test(
  "keys that come while a megabyte is on its way are kept, and the megabyte is once it is whole",
  withWindow(async (next, folder) => {
    const drafts = next();
    let pieces = 0;
    const handover = new Handover(
      async (piece) => {
        await drafts.take(piece);
        pieces += 1;
        await drafts.save(typed("what failed?".slice(0, pieces)));
        assert.equal(new Keep(folder).get("attachments"), undefined);
        assert.deepEqual(new Keep(folder).get("draft"), typed("what failed?".slice(0, pieces)));
      },
      (refs) => drafts.refer(refs),
    );
    await handover.keep(pasted("a", MEGABYTE));
    assert.ok(pieces > 5);
    assert.ok(readFileSync(path.join(folder, "kept.json")).length < 200);
    const later = next();
    assert.equal(later.draft.text, "what failed?".slice(0, pieces));
    assert.deepEqual(later.attachments, pasted("a", MEGABYTE));
  }),
);

test(
  "a megabyte that is half there at a reload is not referred to, and leaves nothing behind",
  withWindow(async (next, folder) => {
    const drafts = next();
    await drafts.take({ id: "a", offset: 0, text: "half", isEnd: false });
    await drafts.refer({ pictures: [], pasted: [{ id: "a" }] });
    writeFileSync(path.join(folder, "large", "a.new"), "ha");
    assert.deepEqual(next().attachments, { pictures: [], pasted: [] });
    assert.deepEqual(readdirSync(path.join(folder, "large")), []);
  }),
);

test(
  "a piece out of order, or under a name that is no id, is refused",
  withWindow(async (next) => {
    const drafts = next();
    await assert.rejects(drafts.take({ id: "a", offset: 4, text: "half", isEnd: true }), /out of order/);
    await assert.rejects(drafts.take({ id: "../a", offset: 0, text: "all", isEnd: true }), /out of order/);
    assert.throws(() => drafts.resolve({ pictures: [], pasted: [{ id: "a" }] }), /did not arrive/);
  }),
);

test(
  "what was typed and pasted while a prompt was being sent is kept",
  withWindow(async (next, folder) => {
    const drafts = next();
    const handover = handoverTo(drafts);
    await handover.keep(pasted("a", "one"));
    await drafts.save(typed("fix it and more"));
    await handover.keep({ pictures: [], pasted: [{ id: "a", text: "one" }, { id: "b", text: "two" }] });
    await drafts.sent("fix it", { pictures: [], pasted: [{ id: "a" }] });
    const later = next();
    assert.deepEqual([later.draft.text, later.attachments], [" and more", pasted("b", "two")]);
    assert.deepEqual(readdirSync(path.join(folder, "large")), ["b"]);
  }),
);

test(
  "a prompt that was taken back is in the draft before the page has it",
  withWindow(async (next) => {
    const drafts = next();
    await drafts.save(typed("now"));
    const added = await drafts.add(typed("then"), [{ name: "a.png", mimeType: "image/png", data: "AAAA" }], [MEGABYTE]);
    const later = next();
    assert.equal(later.draft.text, "now\nthen");
    assert.deepEqual(later.attachments, added);
    assert.deepEqual(added.pasted.map(({ text }) => text), [MEGABYTE]);
  }),
);

test("without a folder it holds while the window lives", async () => {
  const drafts = new DraftKeep(new Keep(undefined), undefined);
  await handoverTo(drafts).keep(pasted("a", "text"));
  assert.deepEqual(drafts.attachments, pasted("a", "text"));
});
