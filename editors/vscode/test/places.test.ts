import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { placeOf } from "../src/places";

function uri(scheme: string, path: string): vscode.Uri {
  const made = { scheme, path, with: (change: { scheme: string }) => uri(change.scheme, path) };
  return made as unknown as vscode.Uri;
}

test("a file and a new document that is to become one have a place", () => {
  for (const scheme of ["file", "untitled"]) {
    const place = placeOf(uri(scheme, "/w/new.txt"));
    assert.deepEqual([place?.scheme, place?.path], ["file", "/w/new.txt"]);
  }
});

test("a document without a name, and what is no file, have none", () => {
  assert.equal(placeOf(uri("untitled", "Untitled-1")), undefined);
  assert.equal(placeOf(uri("git", "/w/a.txt")), undefined);
});
