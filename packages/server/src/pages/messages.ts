import { escapeHtml, messagePage } from './layout.ts';
import { signInScriptPath } from './sign-in-script.ts';

/** Returns a page that explains to a visitor without a cookie how to sign in. */
export function unauthorizedPage(link: 'used' | 'unknown' | undefined): string {
  return messagePage({
    title: titles[link ?? 'none'],
    body: `<p>Liminal can run programs on this machine, so each browser signs in with its own one-time link.</p>
<p>Use the link printed in the terminal where Liminal is running. It ends in <code>/?code=…</code></p>
<p>To get another link, run <code>liminal link</code>.</p>
<script src="${signInScriptPath}"></script>`,
  });
}

const titles = {
  none: 'Open the link from the terminal',
  used: 'This link has been used',
  unknown: 'This link has expired',
};

/** Returns a page that stores the browser's key for our origin, and then opens `path`. */
export function signedInPage(path: string, key: string): string {
  const script = `<script src="${signInScriptPath}" data-key="${escapeHtml(key)}" data-path="${escapeHtml(path)}"></script>`;
  return messagePage({
    title: 'Signed in',
    body: `<p id="problem">Liminal needs JavaScript and site storage.</p>\n${script}`,
  });
}

/** Returns the page of a server whose web app was not built. */
export function notBuiltPage(): string {
  return messagePage({
    title: 'The web app is not built yet',
    body: `<p>The server is running. In the project’s folder, run <code>npm start</code>, which builds the web app
first, and reload this page.</p>`,
  });
}
