import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_CHARS, colored } from "../src/webview/highlight";

test("languages are known by the names that people write", () => {
  for (const name of ["py", "python", "ts", "tsx", "JavaScript", "sh", "shell", "toml", "html", "yml", "c++", "rs", "json"]) {
    assert.match(colored('x = "1" # <b a="1">', name) ?? "", /<span class="hljs-/, name);
  }
  assert.equal(colored("x", "brainfuck"), undefined);
  assert.equal(colored("x", "constructor"), undefined);
});

test("what stands in the code stays text", () => {
  const html = colored('const a = "</span><img src=x onerror=alert(1)>"; // <script>', "js") ?? "";
  assert.deepEqual(html.match(/<(?!\/?span)/g), null);
  assert.ok(!/<span(?! class="[\w- ]+">)/.test(html));
});

test("a block that would take long stays in one colour", () => {
  assert.equal(colored("x\n".repeat(MOST_CHARS), "python"), undefined);
  assert.equal(colored(`x = "${"a".repeat(5000)}"`, "python"), undefined);
});
