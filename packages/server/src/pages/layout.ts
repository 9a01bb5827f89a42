/** Returns a page with one message, in the app's style. The page needs no script and no other file. */
export interface MessagePage {
  title: string;
  /** HTML. */
  body: string;
  /** Additional HTML for the head of the page. */
  head?: string;
}

export function messagePage({ title, body, head = '' }: MessagePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Liminal</title>
<link rel="icon" href="data:,">
${head}<style>${style}</style>
</head>
<body>
<main>
<p class="name">Liminal</p>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
:root { color-scheme: light dark; --ink: #1c1c1f; --soft: #5f6068; --line: #dcdce0; --page: #fbfbfc; --card: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececee; --soft: #a0a1aa; --line: #33343a; --page: #161618; --card: #1e1e21; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px;
  background: var(--page); color: var(--ink); font: 15px/1.6 system-ui, sans-serif; }
main { width: 100%; max-width: 460px; padding: 32px; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; }
h1 { margin: 0 0 12px; font-size: 20px; line-height: 1.3; font-weight: 600; }
p { margin: 0 0 12px; color: var(--soft); }
p:last-child { margin-bottom: 0; }
.name { font-size: 13px; letter-spacing: .02em; }
code { padding: 2px 6px; border: 1px solid var(--line); border-radius: 4px; color: var(--ink);
  font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
`;
