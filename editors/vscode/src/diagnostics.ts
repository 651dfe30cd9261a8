/** What the language tools of this editor say of its documents. */
import * as vscode from "vscode";
import { openDocuments } from "./edits";
import type { DiagnosticsParams, DiagnosticsResult, DocumentDiagnostic, DiagnosticPart } from "./protocol.gen";
import { fromRange } from "./ranges";
import { settled } from "./settle";

/** Wait until they have settled, and return them with the versions they were found in. */
export async function diagnostics(params: DiagnosticsParams): Promise<DiagnosticsResult> {
  const asked = params.uris ?? [];
  const wanted = new Set(asked.map((uri) => vscode.Uri.parse(uri).toString()));
  const concerns = (uri: vscode.Uri) => wanted.size === 0 || wanted.has(uri.toString());
  const isSettled = await settled(params.settleMs ?? 1000, {
    onChange: (listener) => {
      const subscription = vscode.languages.onDidChangeDiagnostics((event) => {
        if (event.uris.some(concerns)) {
          listener();
        }
      });
      return () => void subscription.dispose();
    },
    setTimer: (callback, ms) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  const uris =
    asked.length > 0
      ? asked.map((uri) => vscode.Uri.parse(uri))
      : vscode.workspace.textDocuments.map((document) => document.uri).filter((uri) => uri.scheme === "file");
  const documents = uris
    .map((uri) => ({
      uri: uri.toString(),
      version: openDocuments([uri.toString()])[0]?.version,
      diagnostics: vscode.languages.getDiagnostics(uri).map(toWire),
    }))
    .filter((document) => asked.length > 0 || document.diagnostics.length > 0)
    .map(({ version, ...rest }) => (version === undefined ? rest : { ...rest, version }));
  return { documents, settled: isSettled };
}

function toWire(diagnostic: vscode.Diagnostic): DocumentDiagnostic {
  const code = typeof diagnostic.code === "object" ? diagnostic.code.value : diagnostic.code;
  return {
    range: fromRange(diagnostic.range),
    severity: diagnostic.severity + 1,
    message: diagnostic.message,
    ...(diagnostic.source ? { source: diagnostic.source } : {}),
    ...(code === undefined ? {} : { code: String(code) }),
  };
}

/** A problem as part of a prompt. */
export function problemPart(uri: vscode.Uri, problem: vscode.Diagnostic): DiagnosticPart {
  const { range, severity, message, source } = toWire(problem);
  return { type: "diagnostic", uri: uri.toString(), range, message, severity, ...(source ? { source } : {}) };
}
