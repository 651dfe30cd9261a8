import assert from "node:assert/strict";
import { test } from "node:test";
import { pageHtml } from "../src/html";

test("the policy allows one script and nothing from the network", () => {
  const html = pageHtml({
    view: "chat",
    nonce: "n0nce",
    cspSource: "https://*.test",
    scriptUri: "https://a.test/w.js",
    styleUri: "https://a.test/w.css",
    language: "en",
    title: "Kova",
    data: { text: '"><script>' },
  });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  assert.equal(
    policy,
    "default-src &#39;none&#39;; style-src https://*.test; script-src &#39;nonce-n0nce&#39;; img-src data: blob:; font-src https://*.test; form-action &#39;none&#39;; base-uri &#39;none&#39;",
  );
  assert.equal(html.match(/<script/g)?.length, 1);
});
