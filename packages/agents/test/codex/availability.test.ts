import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codexBinary, codexEnvironment, makeWorkspace } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { processesOf } from '../claude-code/processes.ts';
import { CodexDriver } from '../../src/kinds/codex/index.ts';

/** Returns the reason why Codex may not work with these files in `CODEX_HOME` and these variables. */
async function reason(files: Record<string, string>, env: Record<string, string> = {}) {
  const { home, remove } = await makeWorkspace();
  onTestFinished(remove);
  const folder = join(home, '.codex');
  await mkdir(folder);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const provider = new DriverProvider(
    new CodexDriver({ inherited: { PATH: '', HOME: home, ...env } }),
  );
  const info = await provider.describe();
  expect(info).toMatchObject({ cliType: 'codex', name: 'Codex', available: true });
  return info.reason;
}

test('without a login, the reason says how to sign in', async () => {
  expect(await reason({})).toMatch(
    /Run `\/\S+\/codex login` in a terminal, .*`.* \/\S+\/codex login --with-api-key`/,
  );
  const PATH = dirname(codexBinary());
  expect(await reason({}, { PATH })).toMatch(/Run `codex login` in a terminal, or/);
  expect(await reason({ 'config.toml': 'model_provider = "openai"' })).toMatch(/Not signed in/);
  // The app-server ignores the variable.
  expect(await reason({}, { OPENAI_API_KEY: 'key' })).toMatch(/Not signed in/);
});

test.each(['', '{}', 'null', '[]', 'no JSON', '{"auth_mode":"apikey","OPENAI_API_KEY":null}'])(
  'a login file without a login (%s) does not count',
  async (file) => {
    expect(await reason({ 'auth.json': file })).toMatch(/Not signed in/);
  },
);

test.each<Record<string, string>>([
  { 'auth.json': '{"OPENAI_API_KEY":"key"}' },
  { 'auth.json': '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}' },
  { 'config.toml': 'model = "m"\nmodel_provider = "mine"' },
  { 'config.toml': 'cli_auth_credentials_store = "keyring"' },
])('with a login or a custom model provider, no problem is reported: %j', async (files) => {
  expect(await reason(files)).toBeUndefined();
});

/** Starts the real Codex with this configuration and opens a session. */
async function running(config: string) {
  const { home, projectDir, remove } = await makeWorkspace();
  const folder = join(home, '.codex');
  await mkdir(join(home, 'tmp'), { recursive: true });
  await mkdir(folder);
  const quiet = 'check_for_update_on_startup = false\nopenai_base_url = "http://127.0.0.1:9/v1"';
  const off = '[features]\nplugins = false\n[analytics]\nenabled = false';
  await writeFile(join(folder, 'config.toml'), [quiet, config, off].join('\n'));
  const provider = new DriverProvider(new CodexDriver({ inherited: codexEnvironment(home) }));
  onTestFinished(async () => {
    await provider.close();
    await remove();
  });
  const reasonNow = async () => (await provider.describe()).reason;
  const before = await reasonNow();
  expect(processesOf(home)).toEqual([]);
  await provider.createSession({ projectDir, sessionId: randomUUID() });
  return { folder, before, reasonNow };
}

test('a running Codex is asked whether it needs a login, regardless of its files', async () => {
  const provider = `"model_provider" = "mine"
    model_providers.mine = { name = "M", base_url = "http://127.0.0.1:9/v1", wire_api = "responses" }`;
  const { before, reasonNow } = await running(provider);
  expect(before).toMatch(/Not signed in/);
  expect(await reasonNow()).toBeUndefined();
});

test('a running Codex does not use a login that was added later, and the reason says so', async () => {
  const { folder, reasonNow } = await running('');
  expect(await reasonNow()).toMatch(/Not signed in/);
  await writeFile(join(folder, 'auth.json'), '{"OPENAI_API_KEY":"key"}');
  expect(await reasonNow()).toMatch(/started before you signed in/);
});
