import assert from "node:assert/strict";
import { test } from "node:test";
import { globOf, mentionAt, mentionText, mentioned, pictureType, ranked } from "../src/mentions";

test("a mention is found where it is typed", () => {
  assert.deepEqual(mentionAt("see @src/ma", 11), { start: 4, query: "src/ma" });
  assert.deepEqual(mentionAt("@", 1), { start: 0, query: "" });
  assert.deepEqual(mentionAt('see @"a b', 9), { start: 4, query: "a b" });
  assert.equal(mentionAt("me@home", 7), undefined);
  assert.equal(mentionAt("@done now", 9), undefined);
});

test("mentions that still stand in the text are sent, in their order", () => {
  const known = { "b.py": "u:b", "a.py": "u:a", "a b.txt": "u:ab", "gone.py": "u:g", "a.p": "u:p" };
  assert.deepEqual(mentioned('@a.py, @"a b.txt" and @b.py.', known), [
    { path: "a.py", uri: "u:a" },
    { path: "a b.txt", uri: "u:ab" },
    { path: "b.py", uri: "u:b" },
  ]);
});

test("a path with blanks is quoted", () => {
  assert.equal(mentionText("a.py"), "@a.py");
  assert.equal(mentionText("a b.py"), '@"a b.py"');
});

test("names that begin with it come first, then those that hold it", () => {
  const paths = ["lib/domain.ts", "main/x.ts", "src/main.ts", "src/mxaxin.ts", "other.ts"];
  assert.deepEqual(ranked(paths, "main"), ["src/main.ts", "lib/domain.ts", "main/x.ts", "src/mxaxin.ts"]);
  assert.deepEqual(ranked(paths, ""), ["other.ts", "main/x.ts", "src/main.ts", "lib/domain.ts", "src/mxaxin.ts"]);
});

test("the glob holds the letters in their order and nothing special", () => {
  assert.equal(globOf(""), "**/*");
  assert.equal(globOf("a{b"), "**/*[aA]*?*[bB]*");
  assert.equal(globOf("s/m"), "**/*[sS]*/**/*[mM]*");
});

test("pictures are known by their name", () => {
  assert.deepEqual(["a.PNG", "b.jpeg", "c.svg", "d"].map(pictureType), ["image/png", "image/jpeg", undefined, undefined]);
});
