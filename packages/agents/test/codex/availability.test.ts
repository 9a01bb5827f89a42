import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeWorkspace } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createCodexProvider } from '../../src/codex/index.ts';

/** Codex's reason why it may not work, with these files in `CODEX_HOME` and these variables. */
async function reason(files: Record<string, string>, env: Record<string, string> = {}) {
  const { home, remove } = await makeWorkspace();
  onTestFinished(remove);
  const folder = join(home, '.codex');
  await mkdir(folder);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const provider = createCodexProvider({ inherited: { PATH: '', HOME: home, ...env } });
  const info = await provider.describe();
  expect(info).toMatchObject({ cliType: 'codex', name: 'Codex', available: true });
  return info.reason;
}

test('Codex without a key says how to sign in', async () => {
  expect(await reason({})).toMatch(/not signed in: set OPENAI_API_KEY .* codex login/);
  expect(await reason({ 'config.toml': 'model_provider = "openai"' })).toMatch(/not signed in/);
});

test('Codex with a key, a login or a model provider of one’s own has nothing to say', async () => {
  expect(await reason({}, { OPENAI_API_KEY: 'key' })).toBeUndefined();
  expect(await reason({ 'auth.json': '{}' })).toBeUndefined();
  expect(await reason({ 'config.toml': 'model = "m"\nmodel_provider = "mine"' })).toBeUndefined();
});
