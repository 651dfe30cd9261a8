import assert from "node:assert/strict";
import { test } from "node:test";
import type { AttachmentRefs, Attachments, Piece } from "../src/messages";
import { Handover } from "../src/webview/handover";

/** Its first piece would end within a character. */
const MEGABYTE = "x".repeat(12) + "a line of a log 👍\n".repeat(70_000);
const NOTHING: Attachments = { pictures: [], pasted: [] };

function pasted(id: string, text: string): Attachments {
  return { pictures: [], pasted: [{ id, text }] };
}

/** The extension's side, which answers when it is told to. */
function receiver() {
  const taken: Piece[] = [];
  const referred: AttachmentRefs[] = [];
  const answers: (() => void)[] = [];
  const handover = new Handover(
    (piece) => {
      taken.push(piece);
      return new Promise<void>((resolve) => answers.push(resolve));
    },
    (refs) => {
      referred.push(refs);
      return Promise.resolve();
    },
  );
  const answer = async () => {
    await new Promise(setImmediate);
    answers.splice(0).forEach((resolve) => resolve());
    await new Promise(setImmediate);
  };
  const answerAll = async () => {
    do {
      await answer();
    } while (answers.length > 0);
  };
  return { handover, taken, referred, answer, answerAll };
}

test("a megabyte goes in few pieces at a time, and is referred to when all of it has arrived", async () => {
  const { handover, taken, referred, answer, answerAll } = receiver();
  const kept = handover.keep(pasted("a", MEGABYTE));
  await answer();
  assert.ok(!handover.has("a"));
  assert.ok(taken.reduce((sum, { text }) => sum + text.length, 0) < 600_000);
  assert.deepEqual(referred, []);
  await answerAll();
  await kept;
  assert.ok(handover.has("a"));
  assert.equal(taken.map(({ text }) => text).join(""), MEGABYTE);
  assert.ok(taken.every(({ text }) => encodeURIComponent(text)), "no character is cut in two");
  assert.deepEqual(taken.map(({ isEnd }) => isEnd).lastIndexOf(false), taken.length - 2);
  assert.deepEqual(referred, [{ pictures: [], pasted: [{ id: "a" }] }]);
});

test("what has arrived does not go a second time", async () => {
  const { handover, taken, answerAll } = receiver();
  handover.hasArrived(pasted("a", MEGABYTE));
  const kept = handover.keep({ ...NOTHING, pasted: [{ id: "a", text: MEGABYTE }, { id: "b", text: "short" }] });
  await answerAll();
  await kept;
  assert.deepEqual(taken.map(({ id }) => id), ["b"]);
});

test("what is removed on the way goes no further", async () => {
  const { handover, taken, referred, answer, answerAll } = receiver();
  const first = handover.keep(pasted("a", MEGABYTE));
  await answer();
  const second = handover.keep(NOTHING);
  await answerAll();
  await Promise.all([first, second]);
  assert.ok(taken.length <= 4, String(taken.length));
  assert.deepEqual(referred.at(-1), NOTHING);
});

test("after a piece that failed, the next handing over begins anew", async () => {
  let isBroken = true;
  const taken: Piece[] = [];
  const handover = new Handover(
    (piece) => {
      taken.push(piece);
      return isBroken ? Promise.reject(new Error("full")) : Promise.resolve();
    },
    () => Promise.resolve(),
  );
  await assert.rejects(handover.keep(pasted("a", "text")), /full/);
  isBroken = false;
  await handover.keep(pasted("a", "text"));
  assert.deepEqual(taken.map(({ offset }) => offset), [0, 0]);
});
