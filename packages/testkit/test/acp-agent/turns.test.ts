import { expect, test } from 'vitest';
import { contractPrompts, contractScript, type Step } from '../../src/index.ts';
import { runAgent, type RawClient } from './raw-client.ts';

const chunk = (text: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
});
const ended = (stopReason: string) => ({ result: { stopReason } });

/** Starts one turn of one script at once. */
async function play(steps: Step[]) {
  const { agent, client } = await runAgent({ turns: [{ steps }] });
  const sessionId = await client.session();
  return { ...agent, client, sessionId, answer: client.prompt(sessionId, 'Go.') };
}

test('a turn whose script contains no end sends its updates, and then ends', async () => {
  const plan = { sessionUpdate: 'plan', entries: [], _meta: { unknown: true } };
  const { client, sessionId, answer } = await play([
    { think: 'hm' },
    { say: 'a' },
    { update: plan },
  ]);

  expect(await answer).toMatchObject(ended('end_turn'));

  expect(client.updates(sessionId)).toEqual([
    { ...chunk('hm'), sessionUpdate: 'agent_thought_chunk' },
    chunk('a'),
    plan,
  ]);
});

test('a prompt is answered by the first turn whose text it contains, or, if there is none, by an echo', async () => {
  const { client } = await runAgent({
    turns: [
      { when: 'one', steps: [{ say: '1' }] },
      { when: 'o', steps: [{ stop: { stopReason: 'refusal', usage: { totalTokens: 3 } } }] },
    ],
  });
  const sessionId = await client.session();

  await client.prompt(sessionId, 'any one');
  expect(await client.prompt(sessionId, 'other')).toMatchObject({
    result: { stopReason: 'refusal', usage: { totalTokens: 3 } },
  });
  // U+2028 does not end a line of JSON here.
  await client.prompt(sessionId, '\u2028!');

  expect(client.agentText(sessionId)).toBe('1You said: \u2028!');
});

test('a turn may continue after its answer, answer twice, and send updates for another session', async () => {
  const { client, sessionId, answer } = await play([
    { stop: {} },
    { error: { code: -32603, message: 'too late', data: { why: 1 } } },
    { update: chunk('late') },
    { update: chunk('elsewhere'), sessionId: 'no-such-session' },
    { message: { jsonrpc: '2.0', id: '{{requestId}}', result: 'thrice' } },
  ]);

  const first = await answer;
  await client.until(({ result }) => result === 'thrice');

  const answers = client.messages.filter(({ id }) => id === first['id']);
  expect(answers).toMatchObject([
    ended('end_turn'),
    { error: { code: -32603, message: 'too late', data: { why: 1 } } },
    { result: 'thrice' },
  ]);
  expect(client.agentText(sessionId)).toBe('late');
  expect(client.agentText('no-such-session')).toBe('elsewhere');
});

test('a gate holds the turn until the test opens it', async () => {
  const { client, control, sessionId, answer } = await play([
    { say: 'before ' },
    { gate: 'middle' },
    { say: 'after' },
  ]);
  await control.reached('middle');
  await client.until(({ method }) => method === 'session/update');
  expect(client.agentText(sessionId)).toBe('before ');

  control.open('middle');

  await answer;
  expect(client.agentText(sessionId)).toBe('before after');
});

test('the client’s answer selects the next steps, and the steps can contain values of the answer', async () => {
  const { client, control, answer } = await play([
    {
      request: {
        method: 'terminal/create',
        params: { command: 'ls', cwd: '{{cwd}}/a' },
        as: 'terminal',
      },
    },
    {
      request: {
        method: 'terminal/output',
        params: { terminalId: '{{terminal.terminalId}}' },
        onAnswer: [
          { when: '"truncated":true', steps: [{ stop: { stopReason: 'refusal' } }] },
          { steps: [{ stop: { stopReason: 'max_tokens' } }] },
        ],
      },
    },
  ]);
  const creation = await client.until(({ method }) => method === 'terminal/create');
  expect(creation).toMatchObject({ params: { command: 'ls', cwd: '/project/a' } });
  client.answer(creation['id'], { terminalId: 't7' });
  const output = await client.until(({ method }) => method === 'terminal/output');
  expect(output).toMatchObject({ params: { terminalId: 't7', sessionId: expect.any(String) } });

  client.answer(output['id'], { output: 'x', truncated: true });

  expect(await answer).toMatchObject(ended('refusal'));
  const heard = await control.until(
    ({ id, method }) => id === output['id'] && method === undefined,
  );
  expect(heard.result).toEqual({ output: 'x', truncated: true });
});

test('a request can be sent without waiting for its answer, and may have any id', async () => {
  const { client, answer } = await play([
    { request: { method: 'fs/read_text_file', id: { an: 'object' }, wait: false } },
    { request: { method: 'fs/read_text_file', id: null, wait: false } },
  ]);

  expect(await answer).toMatchObject(ended('end_turn'));

  const asked = client.messages.filter(({ method }) => method === 'fs/read_text_file');
  expect(asked.map(({ id }) => id)).toEqual([{ an: 'object' }, null]);
});

test('a cancelled turn stops at once, plays the steps for a cancellation, and is answered as the script says', async () => {
  const replies = ['cancelled', 'end_turn', 'error'] as const;
  const steps: Step[] = [{ say: 'a' }, { hang: true }, { say: 'b' }];
  const { client } = await runAgent({
    turns: replies.map((cancel) => ({ when: cancel, steps, cancel, onCancel: [{ say: 'c' }] })),
  });
  const cancelled = async (prompt: string) => {
    const sessionId = await client.session();
    const answer = await stopped(client, sessionId, prompt);
    return { ...answer, said: client.agentText(sessionId) };
  };

  expect(await cancelled('cancelled')).toMatchObject({ ...ended('cancelled'), said: 'ac' });
  expect(await cancelled('end_turn')).toMatchObject({ ...ended('end_turn'), said: 'ac' });
  expect(await cancelled('error')).toMatchObject({ error: { code: -32603 }, said: 'ac' });
});

test('if the script says so, a cancellation is ignored, or leaves the prompt unanswered', async () => {
  const { agent, client } = await runAgent({
    cancel: 'never',
    turns: [
      { when: 'deaf', steps: [{ gate: 'deaf' }, { say: 'done' }], cancel: 'ignore' },
      { when: 'mute', steps: [{ gate: 'mute' }], onCancel: [{ say: 'over' }] },
    ],
  });
  const [deaf, mute] = [await client.session(), await client.session()];
  const answers = [client.prompt(deaf, 'deaf'), client.prompt(mute, 'mute')];
  await Promise.all([agent.control.reached('deaf'), agent.control.reached('mute')]);

  for (const session of [deaf, mute]) client.cancel(session);
  await client.until(() => client.agentText(mute) === 'over');
  agent.control.open('deaf');

  expect(await answers[0]).toMatchObject(ended('end_turn'));
  await client.request('session/list');
  expect(client.messages.filter(({ result }) => isStop(result))).toHaveLength(1);
});

test('a single request can be cancelled by its id', async () => {
  const { client, control, answer } = await play([{ gate: 'here' }]);
  await control.reached('here');
  const { id } = await control.until('session/prompt');

  client.notify('$/cancel_request', { requestId: id });

  expect(await answer).toMatchObject({ id, error: { code: -32800 } });
});

test.each([
  ['queue', [ended('end_turn'), ended('end_turn')], 'You said: 2'],
  ['error', [{ error: { code: -32600 } }, ended('end_turn')], ''],
  ['concurrent', [ended('end_turn'), ended('end_turn')], 'You said: 2'],
] as const)(
  'if a turn is running, a second prompt is handled as the script says: %s',
  async (secondPrompt, replies, said) => {
    const { agent, client } = await runAgent({
      secondPrompt,
      turns: [{ when: '1', steps: [{ gate: 'first' }] }],
    });
    const sessionId = await client.session();
    const first = client.prompt(sessionId, '1');
    await agent.control.reached('first');
    const second = client.prompt(sessionId, '2');
    if (secondPrompt !== 'queue') await second;

    agent.control.open('first');

    expect([await second, await first]).toMatchObject(replies);
    expect(client.agentText(sessionId)).toBe(said);
  },
);

test('if a turn is running, a second prompt may be lost', async () => {
  const { agent, client } = await runAgent({
    secondPrompt: 'never',
    turns: [{ when: '1', steps: [{ gate: 'first' }] }],
  });
  const sessionId = await client.session();
  const first = client.prompt(sessionId, '1');
  await agent.control.reached('first');
  void client.prompt(sessionId, '2');
  await agent.control.until(({ line }) => line.includes('"text":"2"'));

  agent.control.open('first');

  await first;
  await client.request('session/list');
  expect(client.agentText(sessionId)).toBe('');
  expect(client.messages.filter(({ result }) => isStop(result))).toHaveLength(1);
});

test('the contract’s script answers each of the contract’s prompts', async () => {
  const { client } = await runAgent(contractScript);
  const sessionId = await client.session();
  const { approval, slow, ...others } = contractPrompts;

  const answers = [];
  for (const prompt of Object.values(others)) answers.push(await client.prompt(sessionId, prompt));

  expect(answers.map(({ error }) => error)).toMatchObject(
    Object.keys(others).map((name) => (name === 'error' ? { code: -32603 } : undefined)),
  );
  expect(client.agentText(sessionId)).not.toContain('You said');
  const kinds = client.updates(sessionId).map(({ sessionUpdate }) => sessionUpdate);
  expect(new Set(kinds)).toEqual(
    new Set([
      'available_commands_update',
      'agent_message_chunk',
      'agent_thought_chunk',
      'plan',
      'tool_call',
      'tool_call_update',
    ]),
  );
  expect(await stopped(client, sessionId, slow)).toMatchObject(ended('cancelled'));
  const asking = client.prompt(sessionId, approval);
  client.answer(await client.asked('session/request_permission'), {
    outcome: { outcome: 'selected', optionId: 'no' },
  });
  expect(await asking).toMatchObject(ended('end_turn'));
  expect(client.updates(sessionId).at(-2)).toMatchObject({
    toolCallId: 'call-2',
    status: 'failed',
  });
});

/** Begins an endless turn, and cancels it. */
async function stopped(client: RawClient, sessionId: string, prompt: string) {
  const before = client.updates(sessionId).length;
  const answer = client.prompt(sessionId, prompt);
  await client.until(() => client.updates(sessionId).length > before);
  client.cancel(sessionId);
  return answer;
}

const isStop = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'stopReason' in result;
