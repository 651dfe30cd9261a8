import assert from "node:assert/strict";
import { test } from "node:test";
import { isHarmless, markdownRenderer } from "../src/webview/markdown";

const render = markdownRenderer({ copy: "Copy", insert: "Insert" });

test("raw HTML is text", () => {
  assert.equal(render('<img src=x onerror="alert(1)">'), "<p>&lt;img src=x onerror=&quot;alert(1)&quot;&gt;</p>\n");
  assert.ok(!render("<script>1</script>").includes("<script"));
});

test("links carry their target as data and only harmless ones are links", () => {
  assert.equal(render("[a](https://x.test/?a&b)"), '<p><a href="#" data-href="https://x.test/?a&amp;b" title="https://x.test/?a&amp;b">a</a></p>\n');
  for (const target of ["javascript:alert(1)", "command:x", "vscode:x", "data:text/html,x", "//host/x", "JaVaScRiPt:x", "vbscript:x"]) {
    assert.ok(!render(`[a](${target})`).includes("<a"), target);
    assert.ok(!isHarmless(target), target);
  }
  assert.ok(isHarmless("src/main.py:12") && isHarmless("main.py:12") && isHarmless("a/b#L3"));
  assert.ok(!isHarmless("java\tscript:alert(1)"));
});

test("pictures are never fetched", () => {
  assert.equal(render("![chart](https://x.test/a.png)"), '<p><a href="#" data-href="https://x.test/a.png" title="https://x.test/a.png">chart</a></p>\n');
  assert.ok(!render('![a"><b](x"y)').includes("<b"));
});

test("code blocks have buttons and escaped text", () => {
  assert.equal(
    render("```ts x\na < b\n```\n"),
    '<div class="code" data-language="ts"><div class="code-head"><span>ts</span>' +
      '<button type="button" class="quiet" data-act="copy">Copy</button>' +
      '<button type="button" class="quiet" data-act="insert">Insert</button></div>' +
      '<pre tabindex="0"><code>a &lt; b</code></pre></div>',
  );
  assert.ok(!render('```"><script>\n```').includes("<script"));
});

test("no style attributes, which the page's policy forbids", () => {
  const table = render("| a |\n| -: |\n| 1 |\n");
  assert.ok(table.includes('<td class="right">') && !table.includes("style="));
});

test("nothing unseen comes out, also when it was written as an entity", () => {
  assert.equal(render("a\u202eb &#x202e;c `\u200b`"), "<p>a⟨U+202E⟩b ⟨U+202E⟩c <code>⟨U+200B⟩</code></p>\n");
});
