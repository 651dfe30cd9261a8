/** The page of every view: one script, one style sheet, a strict content security policy. */

export interface Page {
  readonly view: "chat" | "loop" | "changes" | "markdown";
  readonly nonce: string;
  readonly cspSource: string;
  readonly scriptUri: string;
  readonly styleUri: string;
  readonly language: string;
  readonly title: string;
  /** Handed to the page's script. */
  readonly data: unknown;
}

/** The page as text. Pictures come from data only: nothing is ever fetched from the network. */
export function pageHtml(page: Page): string {
  const policy = [
    "default-src 'none'",
    `style-src ${page.cspSource}`,
    `script-src 'nonce-${page.nonce}'`,
    "img-src data: blob:",
    `font-src ${page.cspSource}`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="${escapeHtml(page.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)}</title>
<link rel="stylesheet" href="${escapeHtml(page.styleUri)}">
</head>
<body data-kova-view="${page.view}" data-kova="${escapeHtml(JSON.stringify(page.data))}">
<script nonce="${escapeHtml(page.nonce)}" src="${escapeHtml(page.scriptUri)}"></script>
</body>
</html>`;
}

export function escapeHtml(text: string): string {
  return text.replace(
    /[&<>"']/g,
    (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[char] ?? char,
  );
}
