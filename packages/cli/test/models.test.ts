/** A bare model at the terminal. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, freePort, httpError, startResponsesApi } from '@liminal/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;

beforeEach(() => {
  home = new Home();
  mkdirSync(home.data);
});
afterEach(() => home.close());

const configure = (models: object): void =>
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify({ models }));

test('a model server that cannot answer yet is waited for, and the terminal says so', async () => {
  const headers = { 'retry-after': '1' };
  const api = await startResponsesApi({
    script: [httpError(503, 'It starts.', { headers }), answer('Good morning.')],
  });
  configure({ local: { type: 'openai', baseUrl: api.url, model: 'm' } });

  const command = home.start(['run', 'hi', '--agent', 'local']);
  expect(await command.exitCode).toBe(0);
  await api.close();
  expect(command.stdout).toBe('Good morning.\n');
  expect(command.stderr).toMatch(
    /^The model’s server .*: It starts\. It is asked again in 1 s\.$/m,
  );
});

test('a model that cannot be asked is refused with what to do', async () => {
  const port = await freePort();
  configure({ local: { type: 'openai', baseUrl: `http://127.0.0.1:${port}/v1` } });
  const keyless = home.start(['run', 'hi', '--agent', 'openai']);
  expect(await keyless.exitCode).toBe(1);
  expect(keyless.stderr).toMatch(/asked\. Set OPENAI_API_KEY before Liminal is started\.$/m);

  const away = home.start(['run', 'hi', '--agent', 'local']);
  expect(await away.exitCode).toBe(1);
  expect(away.stderr).toContain(`at http://127.0.0.1:${port} (ECONNREFUSED). Check that it runs`);
});
