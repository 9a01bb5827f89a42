import { escapeHtml, messagePage } from './layout.ts';
import { signInScriptPath } from './sign-in-script.ts';

/** Tells a visitor without a cookie how to sign in. */
export function unauthorizedPage(link: 'used' | 'unknown' | undefined): string {
  return messagePage({
    title: titles[link ?? 'none'],
    body: `<p>This server runs programs on its machine, so it lets in only those who have a link of its own. A link
signs one browser in, once.</p>
<p>The first one stands in the terminal where Liminal was started, and begins with the address you are at:
<code>…/?code=…</code></p>
<p>For another, run the same command once more: it prints a new one.</p>`,
  });
}

const titles = {
  none: 'Open the link from the terminal',
  used: 'This link has been used',
  unknown: 'This link is not valid (any more)',
};

/** Stores a browser's key for our origin, and goes on to a path of ours. */
export function signedInPage(path: string, key: string): string {
  const script = `<script src="${signInScriptPath}" data-key="${escapeHtml(key)}" data-path="${escapeHtml(path)}"></script>`;
  return messagePage({
    title: 'Signed in',
    body: `<p id="problem">Liminal needs JavaScript, and leave to keep data for this site.</p>\n${script}`,
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
