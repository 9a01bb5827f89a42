/** Questions of the real Codex to people, and their answers. */
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  applyPatch,
  execCommand,
  functionCall,
  greeter,
  type ModelReply,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { itemsOf } from '../../src/testing/folding.ts';
import { messagesOf } from '../acp/running-agent.ts';
import { sharedCodex } from './running-codex.ts';

/** Codex asks before it runs commands outside of the sandbox, and before it changes files. */
const asking = { approvalPolicy: 'on-request', sandbox: 'read-only', asksForRights: true } as const;

const share = sharedCodex({ codex: asking, files: { 'notes.txt': 'two\n' } });
const shareServer = sharedCodex({ codex: asking, mcpServers: { own: greeter() } });

const escalate = 'It must be made.';

test('after “always allow”, a command needs no second permission', async () => {
  const { create, workspace } = await share(() => [
    answer(execCommand('touch one.txt', { escalate })),
    answer(execCommand('touch one.txt', { escalate })),
    answer('Made twice.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Make it.');
  const { options, asked, earlier, answer: reply } = await listener.asked(turnId);
  expect(asked).toMatchObject({ name: 'shell', kind: 'execute', title: 'Run touch one.txt' });
  const input = { command: 'touch one.txt', cwd: workspace.projectDir };
  expect(JSON.parse(asked?.arguments ?? '')).toEqual(input);
  expect(earlier).toBeUndefined();
  expect(options).toMatchObject([
    { optionId: 'accept', kind: 'allow_once' },
    { optionId: 'amend', kind: 'allow_always', name: 'Always allow touch one.txt …' },
    { optionId: 'decline', kind: 'reject_once' },
  ]);

  await reply('amend');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toContain('agent: Made twice.');
  expect(itemsOf(response, 'approval')).toHaveLength(1);
  await access(join(workspace.projectDir, 'one.txt'));
});

test.each([
  ['decline', 'two\n', false],
  ['accept', 'zwei\n', true],
])('a patch needs permission, and %s is obeyed', async (optionId, content, success) => {
  const { create, workspace } = await share(() => [
    answer(applyPatch(['*** Update File: notes.txt', '@@', '-two', '+zwei'])),
    answer('So be it.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Change it.');
  const { title, callId, asked, answer: reply } = await listener.asked(turnId);
  expect(title).toBe('Change files');
  const path = join(workspace.projectDir, 'notes.txt');
  expect(asked?.diffs).toEqual([
    { path, oldText: 'two\n', newText: 'zwei\n', oldLine: 1, newLine: 1 },
  ]);

  await reply(optionId);

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toContain('agent: So be it.');
  expect(itemsOf(response, 'function_call')).toMatchObject([{ callId, kind: 'edit' }]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ callId, success }]);
  expect(await readFile(join(workspace.projectDir, 'notes.txt'), 'utf8')).toBe(content);
});

test('after a patch is allowed for the session, the next patch of its file needs no permission', async () => {
  const patch = (from: string, to: string) =>
    answer(applyPatch(['*** Update File: often.txt', '@@', `-${from}`, `+${to}`]));
  const { create, workspace } = await share(() => [
    answer(applyPatch(['*** Add File: often.txt', '+one'])),
    patch('one', 'two'),
    patch('two', 'three'),
    answer('Changed often.'),
  ]);
  const listener = await create();
  const turnId = await listener.send('Change it often.');
  const { answer: reply } = await listener.asked(turnId);

  await reply('acceptForSession');

  const response = await listener.response(turnId);
  expect(messagesOf(response)).toContain('agent: Changed often.');
  expect(itemsOf(response, 'approval')).toHaveLength(1);
  expect(await readFile(join(workspace.projectDir, 'often.txt'), 'utf8')).toBe('three\n');
});

test.each([
  ['accept', 1],
  ['decline', 0],
])('more rights need permission, and %s reaches the model', async (optionId, granted) => {
  const { create, api } = await share(({ home }) => {
    const input = { reason: 'To write.', permissions: { file_system: { write: [home] } } };
    return [answer(functionCall('request_permissions', input)), answer('I know my rights.')];
  });
  const listener = await create();
  const turnId = await listener.send('Ask for more.');
  const { title, description, answer: reply } = await listener.asked(turnId);
  expect(title).toBe('Give Codex more rights');
  expect(description).toContain('To write.');

  await reply(optionId);

  expect(messagesOf(await listener.response(turnId))).toContain('agent: I know my rights.');
  const told = JSON.stringify(api.requests.at(-1)?.body.input.at(-1));
  expect(told.match(/write/g) ?? []).toHaveLength(granted);
});

const plan = 'Here.\n<proposed_plan>\n# A shed\n- Saw\n</proposed_plan>';

test('after a plan, the answer of a person makes Codex implement it or plan further', async () => {
  const { create, api } = await share(() => [
    answer(plan),
    answer(plan),
    answer('Built.'),
    answer('Indeed.'),
  ]);
  const listener = await create({ collaboration_mode: 'plan' });
  const planned = await listener.ask('Plan a shed.');
  expect(planned.status).toBe('complete');
  const next = async (before: readonly string[]): Promise<string> =>
    listener.until(() => listener.events.find(({ turnId }) => !before.includes(turnId))?.turnId);
  const first = await next([planned.turnId]);
  const { title, options, answer: stay } = await listener.asked(first);
  expect(title).toBe('Implement this plan?');
  expect(options?.map(({ name }) => name)).toEqual([
    'Implement it',
    'Clear the context and implement it',
    'Keep planning',
  ]);

  await stay('stay', { note: 'With a window.' });

  const second = await listener.response(first);
  expect(messagesOf(second)).toContain('user: With a window.');
  expect(api.requests.at(-1)?.prompt).toBe('With a window.');
  const third = await next([planned.turnId, first]);
  const { answer: implement } = await listener.asked(third);

  await implement('implement', { note: 'Use oak.' });

  const built = await listener.response(third);
  expect(messagesOf(built)).toEqual(['user: Implement the plan.\n\nUse oak.', 'agent: Built.']);
  expect(listener.option('collaboration_mode')).toBe('default');
  expect(messagesOf(await listener.ask('Is it?'))).toContain('agent: Indeed.');
});

test('“Keep planning” without a note does not change the session', async () => {
  const { create, api } = await share(() => [answer(plan), answer('Well.')]);
  const listener = await create({ collaboration_mode: 'plan' });
  const planned = await listener.ask('Plan a shed.');
  const asking = await listener.until(
    () => listener.events.find(({ turnId }) => turnId !== planned.turnId)?.turnId,
  );
  const { answer: stay } = await listener.asked(asking);
  await stay('stay');
  expect((await listener.response(asking)).status).toBe('complete');
  expect(api.requests).toHaveLength(1);
  expect(listener.option('collaboration_mode')).toBe('plan');
  expect(messagesOf(await listener.ask('And?'))).toContain('agent: Well.');
});

test('in Plan mode the model can ask questions and gets the answers', async () => {
  const questions = [
    {
      id: 'colour',
      header: 'Colour',
      question: 'Which colour?',
      options: [
        { label: 'Red', description: 'Like fire.' },
        { label: 'Blue', description: 'Like the sea.' },
      ],
    },
  ];
  const { create, api } = await share(() => [
    answer(functionCall('request_user_input', { questions })),
    answer('A good colour.'),
  ]);
  const listener = await create({ collaboration_mode: 'plan' });
  const turnId = await listener.send('Paint it.');
  const { title, form, answer: reply } = await listener.asked(turnId);
  expect(title).toBe('Which colour?');
  expect(form?.properties['colour']).toMatchObject({
    title: 'Which colour?',
    oneOf: [
      { const: 'Red', title: 'Red', description: 'Like fire.' },
      { const: 'Blue', title: 'Blue', description: 'Like the sea.' },
    ],
    other: true,
  });

  await reply('accept', { content: { colour: 'Blue' } });

  expect(messagesOf(await listener.response(turnId))).toContain('agent: A good colour.');
  const told = api.requests.at(-1)?.body.input.at(-1);
  expect(JSON.stringify(told)).toContain('Blue');
});

/** Sends a message whose turn calls an MCP server's tool; `leave` is Codex' request for permission. */
async function calling(tool: string, ...more: ModelReply[]) {
  const call = answer(functionCall(tool, {}, { namespace: 'mcp__own' }));
  const running = await shareServer(() => [call, answer('Welcome.'), ...more]);
  const listener = await running.create();
  const turnId = await listener.send('Sign me in.');
  return { ...running, listener, turnId, leave: await listener.asked(turnId) };
}

test('an MCP server’s tool needs permission, for one call or permanently', async () => {
  const again = answer(functionCall('measure', {}, { namespace: 'mcp__own' }));
  const { leave, listener, turnId } = await calling('measure', again, answer('Done.'));
  expect(leave).toMatchObject({
    title: 'Allow the own MCP server to run tool "measure"?',
    options: [
      { optionId: 'accept', kind: 'allow_once' },
      { optionId: 'session', kind: 'allow_always' },
      { optionId: 'always', kind: 'allow_always' },
      { optionId: 'decline', kind: 'reject_once' },
    ],
  });
  expect(leave.form).toBeUndefined();

  await leave.answer('session');

  expect(messagesOf(await listener.response(turnId))).toContain('agent: Welcome.');
  const second = await listener.ask('Once more.');
  expect(messagesOf(second)).toContain('agent: Done.');
  expect(itemsOf(second, 'approval')).toEqual([]);
});

test('an MCP server’s tool that is refused does not run', async () => {
  const { leave, listener, turnId } = await calling('measure');
  await leave.answer('decline');
  const response = await listener.response(turnId);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});

test('the answers in a form of an MCP server reach the server', async () => {
  const { leave, listener, turnId } = await calling('register');
  await leave.answer('accept');
  const asked = await listener.until(() =>
    listener
      .of(turnId)
      .map(({ payload }) => payload)
      .find((payload) => payload.type === 'item_start' && payload.form !== undefined),
  );
  expect(asked).toMatchObject({ title: 'Who are you?', form: { required: ['name'] } });

  const form = await listener.asked(turnId);
  await form.answer('accept', { content: { name: 'Ada' } });

  const response = await listener.response(turnId);
  const [call] = itemsOf(response, 'function_call');
  const [output] = itemsOf(response, 'function_call_output');
  expect(call).toMatchObject({ name: 'mcp__own__register', title: 'own: register' });
  expect(JSON.parse(output?.output ?? '')).toEqual({ action: 'accept', content: { name: 'Ada' } });
});

test('the MCP servers of a session are listed with their states', async () => {
  const { create, provider } = await shareServer(() => []);
  const { sessionId } = await create();
  await expect
    .poll(() => provider.listMcpServers(sessionId))
    .toEqual([{ name: 'own', state: 'connected', tools: expect.any(Number), actions: [] }]);
  await expect(provider.changeMcpServer(sessionId, 'own', 'off')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
  await expect(provider.changeMcpServer(sessionId, 'own', 'sign-in')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('“own”'),
  });
});
