/**
 * Documents that have a place on the disk: files, and new ones that are to become a file.
 *
 * Invariant: the engine is told of these, and of no others.
 */
import type * as vscode from "vscode";

export const SYNCED = [{ scheme: "file" }, { scheme: "untitled", pattern: "/**" }];

/** Where it lies or will lie; nothing for one that has no name yet, or is no file. */
export function placeOf(uri: vscode.Uri): vscode.Uri | undefined {
  const isNamed = uri.scheme === "untitled" && uri.path.startsWith("/");
  return uri.scheme === "file" ? uri : isNamed ? uri.with({ scheme: "file" }) : undefined;
}
