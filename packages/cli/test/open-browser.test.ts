/** The browser that a start opens: the link that signs in stands in no list of processes. */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually, Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

/** A desktop whose browser writes down its arguments, and the processes that all users see. */
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

test('SAFE: the browser is given a page that only its user can read, and that leads to the link', async () => {
  const { seen, env } = desktop();
  const server = home.start(['serve', '--port', '0'], env);
  await server.says(/^Liminal is at \S+$/m);
  await eventually(() => existsSync(seen)).toBe(true);

  const page = fileURLToPath(readFileSync(seen, 'utf8').trim());
  expect(statSync(page).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(page)).mode & 0o777).toBe(0o700);
  const [, link = '', code = ''] = /url=(\S+\?code=([\w-]+))"/.exec(readFileSync(page, 'utf8'))!;
  expect(readFileSync(`${seen}.processes`, 'utf8')).not.toContain(code);

  // `fetch` has no say in these.
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
