/** Tests the browser that the server opens when it starts. No list of processes may show the sign-in link. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openInBrowser } from '../src/terminal/browser.ts';
import { eventually, Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await home.close();
});

/**
 * Creates a fake desktop. Its browser records the browser's own arguments and the list of processes that all users can
 * see.
 */
function desktop() {
  const [browser, seen] = [join(home.folder, 'browser'), join(home.folder, 'seen')];
  const script = `#!/bin/sh\nps -ww -eo args > '${seen}.processes'\necho "$1" > '${seen}.part'\nmv '${seen}.part' '${seen}'\n`;
  writeFileSync(browser, script, { mode: 0o755 });
  const applications = join(home.folder, '.local/share/applications');
  mkdirSync(applications, { recursive: true });
  const entry = `[Desktop Entry]\nType=Application\nName=Recorder\nExec=${browser} %U\n`;
  writeFileSync(join(applications, 'recorder.desktop'), entry);
  const types = ['text/html', 'x-scheme-handler/http', 'x-scheme-handler/file'];
  const defaults = types.map((type) => `${type}=recorder.desktop\n`).join('');
  writeFileSync(join(applications, 'mimeapps.list'), `[Default Applications]\n${defaults}`);
  return { seen, env: { DISPLAY: ':0', BROWSER: browser } };
}

test('SAFE: the browser opens a page that only its user can read, and that redirects to the link', async () => {
  const { seen, env } = desktop();
  const server = home.start(['serve', '--port', '0'], env);
  await server.untilOutput(/^Liminal is at \S+$/m);
  await eventually(() => existsSync(seen)).toBe(true);

  const page = fileURLToPath(readFileSync(seen, 'utf8').trim());
  expect(statSync(page).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(page)).mode & 0o777).toBe(0o700);
  const [, link = '', code = ''] = /url=(\S+\?code=([\w-]+))"/.exec(readFileSync(page, 'utf8'))!;
  expect(readFileSync(`${seen}.processes`, 'utf8')).not.toContain(code);

  // `fetch` cannot set these headers.
  const headers = {
    accept: 'text/html',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
  };
  const [signedIn] = (await once(get(link, { headers }), 'response')) as [IncomingMessage];
  expect(signedIn.statusCode).toBe(200);
  expect(signedIn.headers['set-cookie']?.join()).toContain('liminal_');
  signedIn.destroy();

  server.signal('SIGTERM');
  expect(await server.exitCode).toBe(0);
  expect(existsSync(dirname(page))).toBe(false);
});

test('SAFE: a link with quotes is escaped in the page, and adds no HTML to the page', async () => {
  const { seen, env } = desktop();
  for (const [name, value] of Object.entries({ ...env, HOME: home.folder }))
    vi.stubEnv(name, value);
  await openInBrowser('http://127.0.0.1:4747/?code=a&b="><script>');
  await eventually(() => existsSync(seen)).toBe(true);
  const html = readFileSync(fileURLToPath(readFileSync(seen, 'utf8').trim()), 'utf8');
  const href = 'http://127.0.0.1:4747/?code=a&amp;b=&quot;><script>';
  expect(html).toContain(`content="0; url=${href}"`);
  expect(html).toContain(`<a href="${href}">`);
});

test('if the browser cannot be started, the user is asked to open the link', async () => {
  // Hide the desktop entries of this machine, because a program of this machine might open the page.
  const env = { DISPLAY: ':0', BROWSER: '/bin/false', XDG_DATA_DIRS: home.folder };
  const server = home.start(['serve', '--port', '0'], env);
  await server.untilOutput(/^No browser could be opened: open the link yourself\.$/m);
  expect(server.stdout).toMatch(/^Liminal is at \S+$/m);
});
