/** Slash commands on the real Codex. */
import { answer, byModelPrompt, gate, message } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { sharedCodex } from './running-codex.ts';

const skill = '---\nname: baking\ndescription: Bakes bread.\n---\nKnead for ten minutes.\n';
const share = sharedCodex({ files: { '.agents/skills/baking/SKILL.md': skill } });

test('/compact summarises the conversation', async () => {
  const { create, api } = await share(() => [
    answer('A long story.'),
    answer('We talked about a story.'),
    answer('Going on.'),
  ]);
  const listener = await create();
  await listener.ask('Tell me a story.');

  const response = await listener.ask('/compact');
  await listener.ask('And then?');

  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toEqual([
    'user: /compact',
    'system: The conversation so far was summarised to make room.',
  ]);
  expect(response.outputItems.at(-1)).toMatchObject({ compaction: 'completed' });
  const input = JSON.stringify(api.requests.at(-1)?.body.input);
  expect(input).toContain('We talked about a story.');
  expect(input).not.toContain('A long story.');
});

test.each([
  ['/review', 'current code changes'],
  ['/review the tests', 'the tests'],
  ['/review-commit abc123', 'abc123'],
])('%s asks for a review', async (command, asked) => {
  const { create, api } = await share(() => [answer('It is all well.')]);
  const listener = await create();

  const response = await listener.ask(command);

  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toEqual([`user: ${command}`, 'agent: It is all well.']);
  expect(api.requests[0]?.prompt).toContain(asked);
});

test('a review of a missing branch fails with a reason, and the session continues', async () => {
  const { create } = await share(() => [answer('Back.')]);
  const listener = await create();
  const response = await listener.ask('/review-branch main');
  expect(response).toMatchObject({ status: 'error' });
  expect(response.error?.message).toMatch(/is not a git repository$/);
  expect(messagesOf(await listener.ask('Well then.'))).toContain('agent: Back.');
});

test('a review can be stopped, and the session continues', async () => {
  const { create, provider } = await share(() =>
    byModelPrompt({
      'current code changes': [answer(message(['I look', gate()]))],
      'Well then': [answer('Back.')],
    }),
  );
  const listener = await create();
  const turnId = await listener.send('/review');
  await listener.event(turnId, 'item_start');
  await provider.cancelTurn(listener.sessionId);
  expect((await listener.response(turnId)).status).toBe('aborted');
  expect(messagesOf(await listener.ask('Well then.'))).toContain('agent: Back.');
});

test('a skill of the project is offered, and its text reaches the model', async () => {
  const { create, api } = await share(() => [answer('Warm and crisp.')]);
  const listener = await create();
  const commands = await listener.until(() =>
    listener.updates.flatMap((one) => one.commands ?? []).find(({ name }) => name === 'baking'),
  );
  expect(commands.description).toBe('Bakes bread.');

  await listener.ask('/baking rye');

  const input = JSON.stringify(api.requests[0]?.body.input);
  expect(input).toContain('$baking rye');
  expect(input).toContain('Knead for ten minutes.');
});

const answered = ({ outputItems }: { outputItems: readonly { type: string }[] }): string =>
  JSON.stringify(outputItems.at(-1));

test.each([
  ['/undo', 'only in its own terminal'],
  ['/model gpt-5', 'a setting of the session'],
  ['/mcp', 'MCP servers'],
  ['/no-such-command now', 'Codex has no command /no-such-command here.'],
  ['/constructor', 'Codex has no command /constructor here.'],
])('Liminal answers %s, and nothing reaches the model', async (command, words) => {
  const { create, api } = await share(() => [answer('Yes.')]);
  const listener = await create();
  const response = await listener.ask(command);
  expect(response.status).toBe('complete');
  expect(messagesOf(response)).toHaveLength(2);
  expect(answered(response)).toContain(words);
  expect(api.requests).toEqual([]);
  await listener.ask(` ${command}`);
  expect(api.requests.map(({ prompt }) => prompt.trim())).toEqual([command]);
});

test('/plan switches to Plan mode, as in Codex’ own terminal', async () => {
  const { create, api } = await share(() => [answer('A plan.')]);
  const listener = await create();
  const mode = () =>
    listener.updates
      .flatMap(({ configOptions = [] }) => configOptions)
      .findLast(({ id }) => id === 'collaboration_mode')?.currentValue;
  const response = await listener.ask('/plan');
  expect(answered(response)).toContain('Plan mode is on');
  await listener.until(() => mode() === 'plan' || undefined);
  expect(api.requests).toEqual([]);
  await listener.ask('/plan a shed');
  expect(api.requests[0]?.prompt).toBe('a shed');
  expect(JSON.stringify(api.requests[0]?.body.input)).toContain('Plan Mode');
});

test('a message that begins with a path is not a command', async () => {
  const { create, api } = await share(() => [answer('It is a file.')]);
  const listener = await create();
  await listener.ask('/etc/hosts is what?');
  expect(api.requests[0]?.prompt).toBe('/etc/hosts is what?');
});

test('the shown mode reaches the model once, with the first turn', async () => {
  const { create, api } = await share(() => [answer('Yes.'), answer('Yes.')]);
  const listener = await create();
  await listener.ask('One.');
  await listener.ask('Two.');
  const [first, second] = api.requests.map(({ body }) => JSON.stringify(body.input));
  const count = (text = '') => text.split('# Collaboration Mode: Default').length - 1;
  expect([count(first), count(second)]).toEqual([1, 1]);
});
