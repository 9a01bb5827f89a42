import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { partOf, testAtLength } from '@liminal/testkit/at-length';
import { describe, expect, test } from 'vitest';
import { runClaude, messagesOf, shareClaude } from './running-claude.ts';

const settings = (permissions: object) => ({ 'settings.json': JSON.stringify({ permissions }) });
const isRoot = process.getuid?.() === 0;
/** With this variable, Claude Code offers the mode that allows everything even to root. */
const sandbox = { IS_SANDBOX: '1' };

const holds = test.each(
  partOf({ acceptEdits: 1, plan: 2, dontAsk: 3, auto: 4 }, ['auto']).map(([mode]) => mode),
);

describe('the mode of the user’s settings', () => {
  holds('%s is used if no mode is chosen', async (mode) => {
    const { create } = await runClaude(() => [reply('Yes.')], {
      config: settings({ defaultMode: mode }),
    });
    const listener = await create();
    await listener.offered('mode');
    expect(listener.option('mode')).toBe(mode);
    await listener.ask('Hello?');
    expect(listener.option('mode')).toBe(mode);
  });

  test('a mode that is chosen in Liminal replaces the mode of the user’s settings; `dontAsk` refuses calls that need permission', async () => {
    const { create, provider, workspace } = await runClaude(
      () => [reply('Yes.'), reply(toolUse('Bash', { command: 'touch made.txt' })), reply('No.')],
      { config: settings({ defaultMode: 'acceptEdits' }) },
    );
    const listener = await create({ mode: 'default' });
    await listener.ask('Hello?');
    expect(listener.option('mode')).toBe('default');
    await provider.setConfigOption(listener.sessionId, 'mode', 'dontAsk');
    await listener.ask('Make it.');
    expect(existsSync(join(workspace.projectDir, 'made.txt'))).toBe(false);
  });
});

describe('if the mode that allows everything is available', () => {
  const share = shareClaude({ env: sandbox });

  test('each mode has a descriptive name', async () => {
    expect(await share(() => []).first.offered('mode')).toEqual([
      'Ask first',
      'Accept edits',
      'Plan',
      'Auto',
      'Never ask',
      'Allow everything',
    ]);
  });

  testAtLength(
    'a model that `/model` sets in the conversation is shown as the setting',
    async () => {
      const { first: listener, api } = share(() => () => reply('Fine.'));
      await listener.offered('model');
      expect(listener.option('model')).toBe('default');
      await listener.ask('/model haiku');
      await listener.until(() => (listener.option('model') === 'haiku' ? true : undefined));
      await listener.ask('Hello?');
      expect(api.requests.findLast(({ kind }) => kind === 'main')?.body.model).toContain('haiku');
      await listener.ask('/model default');
      await listener.until(() => (listener.option('model') === 'default' ? true : undefined));
    },
  );

  test('the mode that allows everything asks for no permission', async () => {
    const { listener, provider, workspace } = share(() => [
      reply(toolUse('Bash', { command: 'touch made.txt' })),
      reply('Done.'),
    ]);
    await provider.setConfigOption(listener.sessionId, 'mode', 'bypassPermissions');
    expect(messagesOf(await listener.ask('Make it.')).at(-1)).toBe('agent: Done.');
    expect(existsSync(join(workspace.projectDir, 'made.txt'))).toBe(true);
  });
});

test('modes that the settings forbid are not offered, and the settings’ model is shown', async () => {
  const permissions = { disableBypassPermissionsMode: 'disable', disableAutoMode: 'disable' };
  const { create, provider } = await runClaude(() => [reply('Yes.')], {
    env: sandbox,
    config: { 'settings.json': JSON.stringify({ permissions, model: 'sonnet' }) },
  });
  const listener = await create();
  expect(await listener.offered('mode')).toEqual([
    'Ask first',
    'Accept edits',
    'Plan',
    'Never ask',
  ]);
  await expect(
    provider.setConfigOption(listener.sessionId, 'mode', 'bypassPermissions'),
  ).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  expect(listener.option('model')).toBe('sonnet');
});

test.runIf(isRoot)(
  'root cannot choose the mode that allows everything, and gets a notice if it was chosen',
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
