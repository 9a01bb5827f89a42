/** Slash commands on the real Claude Code. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { listedCommands } from '../../../../scripts/agent-interfaces/terminals.ts';
import { messagesOf, shareClaude } from './running-claude.ts';

const skill = '---\nname: baking\ndescription: Bakes bread.\n---\nKnead for ten minutes.\n';
const share = shareClaude({ files: { '.claude/skills/baking/SKILL.md': skill } });

test('an unknown command is answered by Liminal, and is not sent to the model', async () => {
  const { listener, api } = share(() => () => reply('Yes.'));
  const response = await listener.ask('/no-such-command now');
  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toEqual([
    'user: /no-such-command now',
    'system: Claude Code has no command /no-such-command. Nothing was sent. To send the text unchanged, put a space before it.',
  ]);
  expect(api.requests).toEqual([]);
  expect(messagesOf(await listener.ask(' /no-such-command now'))).toContain('agent: Yes.');
  expect(JSON.stringify(api.requests[0]?.body.messages)).toContain('/no-such-command now');
});

test('Claude Code accepts the aliases of its commands; Liminal answers a command that exists only in the terminal with the name of its own counterpart', async () => {
  const { listener, api } = share(() => []);
  const before = api.requests.length;
  expect(messagesOf(await listener.ask('/cost')).at(-1)).toContain('Total duration');
  expect(messagesOf(await listener.ask('/resume')).at(-1)).toBe(
    'system: Open the other session in the list of sessions. Nothing was sent. To send the text unchanged, put a space before it.',
  );
  expect(messagesOf(await listener.ask('/vim')).at(-1)).toContain('only in its own terminal');
  expect(api.requests).toHaveLength(before);
});

test('commands with a counterpart in Liminal are answered with it', async () => {
  const { listener, api } = share(() => []);
  const before = api.requests.length;
  for (const name of ['status', 'permissions', 'hooks', 'skills', 'memory', 'plugin']) {
    expect(messagesOf(await listener.ask(`/${name}`)).at(-1)).toContain('`liminal setup`');
  }
  expect(messagesOf(await listener.ask('/fast')).at(-1)).toContain('“Speed”');
  expect(messagesOf(await listener.ask('/diff')).at(-1)).toContain('liminal diff');
  expect(messagesOf(await listener.ask('/add-dir ../lib')).at(-1)).toContain(
    '`liminal directories`',
  );
  expect(api.requests).toHaveLength(before);
});

test('skills, paths and other text reach the model', async () => {
  const { listener, api, workspace } = share(() => () => reply('Yes.'));
  await listener.ask('/baking rye');
  expect(JSON.stringify(api.requests.at(-1)?.body.messages)).toContain('Knead for ten minutes.');
  const texts = ['/etc is what?', '/etc/hosts is what?', '/a.b what?', '/mcp__door__knock'];
  for (const text of texts) expect(messagesOf(await listener.ask(text))).toContain('agent: Yes.');
  const folder = join(workspace.projectDir, '.claude/skills/frying');
  await mkdir(folder);
  await writeFile(join(folder, 'SKILL.md'), skill.replaceAll('baking', 'frying'));
  await listener.ask('/reload-skills');
  expect(messagesOf(await listener.ask('/frying eggs'))).toContain('agent: Yes.');
});

test('the offered commands have their aliases, and useless commands are left out', async () => {
  const { first } = share(() => []);
  const { commands = [] } = await first.until(() => first.updates.find((one) => one.commands));
  const names = commands.map(({ name }) => name);
  expect(commands.find(({ name }) => name === 'usage')?.aliases).toContain('cost');
  expect(names).toContain('clear');
  // The program's own commands are listed in docs/terminal-commands.md.
  const all = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(all.filter((name) => !listedCommands.includes(name) && !name.endsWith('ing'))).toEqual([]);
  expect(
    names.filter((name) => /^(__.*|heapdump|focus|color|fast|workflow-launch-exec)$/.test(name)),
  ).toEqual([]);
});
