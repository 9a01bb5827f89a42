import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How long the browser may take to read the page that contains the link, in ms. */
const readMs = 60_000;

/** Whether a browser would open on the screen of this machine, in front of a person. */
export function hasDesktop(env: NodeJS.ProcessEnv, platform = process.platform): boolean {
  if (env['CI'] || env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}

/**
 * Opens a link that signs in. All users of this machine can read the arguments of programs, so the browser opens a file
 * that only this user can read, and that redirects to the link. Never fails: the terminal also shows the link.
 */
export async function openInBrowser(url: string): Promise<void> {
  const page = writePage(url);
  try {
    // Import the library only here, because most servers have no desktop.
    const { default: open } = await import('open');
    const opener = await open(pathToFileURL(page).href);
    opener.on('error', notOpened);
    opener.on('exit', (code) => {
      if (code !== 0) notOpened();
    });
  } catch {
    notOpened();
  }
}

function notOpened(): void {
  // People read this line, so it is not written with `console.error`, which goes to a server's log.
  process.stderr.write('No browser could be opened: open the link yourself.\n');
}

/**
 * Writes a page that redirects to the URL, and returns the page's path. The page is removed after `readMs`, and when
 * this process ends.
 */
function writePage(url: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-open-'));
  const page = join(folder, 'open-liminal.html');
  const href = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const html = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${href}">
<title>Liminal</title>
<a href="${href}">Open Liminal</a>
`;
  writeFileSync(page, html, { mode: 0o600, flag: 'wx' });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  setTimeout(() => {
    remove();
    process.off('exit', remove);
  }, readMs).unref();
  return page;
}
