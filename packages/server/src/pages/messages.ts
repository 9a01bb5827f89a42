import { escapeHtml, messagePage } from './layout.ts';

/** Tells somebody without a cookie how to get in. */
export function unauthorizedPage(wrongToken: boolean): string {
  return messagePage({
    title: wrongToken ? 'This link is not valid (any more)' : 'Open the link from the terminal',
    body: `<p>This server runs programs on its machine, so it lets in only those who have its link.</p>
<p>The link stands in the terminal where Liminal was started, and begins with the address you are at:
<code>…/?token=…</code></p>
<p>Is the terminal gone? Run the same command once more: it prints the link again.</p>`,
  });
}

/** Goes on to a path of ours by itself. */
export function continuePage(path: string): string {
  const target = escapeHtml(path);
  return messagePage({
    title: 'Signed in',
    head: `<meta http-equiv="refresh" content="0; url=${target}">\n`,
    body: `<p><a href="${target}">Go on</a></p>`,
  });
}

/** The server runs, but its web app was not built. */
export function notBuiltPage(): string {
  return messagePage({
    title: 'The web app is not built yet',
    body: `<p>The server is running. In the project’s folder, run <code>npm start</code>, which builds the web app
first, and reload this page.</p>`,
  });
}
