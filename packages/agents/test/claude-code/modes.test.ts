import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { runClaude, said } from './running-claude.ts';

const settings = (permissions: object) => ({ 'settings.json': JSON.stringify({ permissions }) });
const isRoot = process.getuid?.() === 0;
/** Here Claude Code lets even root allow everything. */
const sandbox = { IS_SANDBOX: '1' };

describe('the mode of the user’s settings', () => {
  test.each(['acceptEdits', 'plan', 'dontAsk', 'auto'])(
    '%s holds if none is chosen',
    async (mode) => {
      const { create } = await runClaude(() => [reply('Yes.')], {
        config: settings({ defaultMode: mode }),
      });
      const listener = await create();
      await listener.offered('mode');
      expect(listener.option('mode')).toBe(mode);
      await listener.ask('Hello?');
      expect(listener.option('mode')).toBe(mode);
    },
  );

  test('gives way to the one that is chosen here', async () => {
    const { create } = await runClaude(() => [reply('Yes.')], {
      config: settings({ defaultMode: 'acceptEdits' }),
    });
    const listener = await create({ mode: 'default' });
    await listener.ask('Hello?');
    expect(listener.option('mode')).toBe('default');
  });
});

test('each mode is named for what it does', async () => {
  const { create } = await runClaude(() => [reply('Yes.')], { env: sandbox });
  expect(await (await create()).offered('mode')).toEqual([
    'Ask first',
    'Accept edits',
    'Plan',
    'Let a model decide',
    'Refuse what needs asking',
    'Allow everything',
  ]);
});

test('modes that the settings rule out are not offered', async () => {
  const ruledOut = { disableBypassPermissionsMode: 'disable', disableAutoMode: 'disable' };
  const { create, provider } = await runClaude(() => [reply('Yes.')], {
    env: sandbox,
    config: settings(ruledOut),
  });
  const listener = await create();
  expect(await listener.offered('mode')).toEqual([
    'Ask first',
    'Accept edits',
    'Plan',
    'Refuse what needs asking',
  ]);
  await expect(
    provider.setConfigOption(listener.sessionId, 'mode', 'bypassPermissions'),
  ).rejects.toMatchObject({ code: 'INVALID_OPTION' });
});

test.runIf(isRoot)(
  'root cannot choose to allow everything, and gets a notice if it was chosen',
  async () => {
    const { create } = await runClaude(() => [reply('Yes.')]);
    const listener = await create({ mode: 'bypassPermissions' });
    expect(await listener.offered('mode')).not.toContain('Allow everything');
    expect(listener.option('mode')).toBe('default');
    const told = listener.updates.flatMap(({ notices }) => notices ?? []).map(({ text }) => text);
    expect(told).toContain(
      'Claude Code does not allow “Allow everything” here. The mode is “Ask first”.',
    );
  },
);

test('to allow everything asks for nothing', async () => {
  const { create, provider, workspace } = await runClaude(
    () => [reply(toolUse('Bash', { command: 'touch made.txt' })), reply('Done.')],
    { env: sandbox },
  );
  const listener = await create();
  await provider.setConfigOption(listener.sessionId, 'mode', 'bypassPermissions');
  expect(said(await listener.ask('Make it.')).at(-1)).toBe('agent: Done.');
  expect(existsSync(join(workspace.projectDir, 'made.txt'))).toBe(true);
});

test('to refuse what needs asking refuses it', async () => {
  const { create, workspace } = await runClaude(() => [
    reply(toolUse('Bash', { command: 'touch made.txt' })),
    reply('Then not.'),
  ]);
  const listener = await create({ mode: 'dontAsk' });
  await listener.ask('Make it.');
  expect(existsSync(join(workspace.projectDir, 'made.txt'))).toBe(false);
});

test('a model that is named in the conversation is the one that is shown', async () => {
  const { create, api } = await runClaude(() => () => reply('Fine.'));
  const listener = await create();
  await listener.offered('model');
  expect(listener.option('model')).toBe('default');
  await listener.ask('/model haiku');
  await listener.until(() => (listener.option('model') === 'haiku' ? true : undefined));
  await listener.ask('Hello?');
  expect(api.requests.findLast(({ kind }) => kind === 'main')?.body.model).toContain('haiku');
  await listener.ask('/model default');
  await listener.until(() => (listener.option('model') === 'default' ? true : undefined));
});

test('the model of the user’s settings is the one that is shown, and a later change of them still counts', async () => {
  const { create } = await runClaude(() => () => reply('Fine.'), {
    config: { 'settings.json': JSON.stringify({ model: 'sonnet' }) },
  });
  const listener = await create();
  await listener.offered('model');
  expect(listener.option('model')).toBe('sonnet');
});
