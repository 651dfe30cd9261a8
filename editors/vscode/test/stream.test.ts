import { written } from "./paper";
import type { Paper } from "./paper";
import assert from "node:assert/strict";
import { test } from "node:test";
import { GrowingMarkdown } from "../src/webview/stream";

const TEXT = Array.from({ length: 300 }, (_, at) => `Paragraph ${at}\n\n${at % 9 === 0 ? "```py\nx = 1\n```\n\n" : ""}`).join("");

function paperOf(reply: GrowingMarkdown): Paper {
  return reply.element as unknown as Paper;
}

test("a reply that grew piece by piece is the reply drawn at once", () => {
  const [grown, whole] = [new GrowingMarkdown(), new GrowingMarkdown()];
  for (let at = 0, now = 0; at < TEXT.length; at += 37, now += 16) {
    grown.append(TEXT.slice(at, at + 37));
    grown.draw(now);
  }
  grown.finish(TEXT);
  whole.finish(TEXT);
  assert.equal(written(paperOf(grown)), written(paperOf(whole)));
  assert.equal(written(paperOf(whole)).match(/Paragraph/g)?.length, 300);
});

test("a long reply is laid out in few parts, and what is final is not drawn again", () => {
  const reply = new GrowingMarkdown();
  reply.append(TEXT);
  reply.draw(0);
  const parts = [...paperOf(reply).children];
  assert.ok(parts.length > 5 && parts.length < 25, String(parts.length));
  reply.append(`${TEXT}end`);
  reply.draw(16);
  reply.finish(`${TEXT}${TEXT}end`);
  assert.deepEqual(paperOf(reply).children.slice(0, parts.length - 2), parts.slice(0, -2));
});

test("a text that refers to its own lines is one piece", () => {
  const reply = new GrowingMarkdown();
  reply.append("See [a].\n\nMore.\n\n");
  reply.draw(0);
  reply.finish("See [a].\n\nMore.\n\n[a]: http://a.b\n");
  assert.equal(paperOf(reply).children.length, 1);
  assert.match(written(paperOf(reply)), /data-href="http:\/\/a\.b"/);
});
