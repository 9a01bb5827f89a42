import { greeter, reply, toolUse } from '@liminal/testkit';
import type { EventPayload } from '@liminal/protocol';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { shareClaude, type ClaudeListener } from './running-claude.ts';

const share = shareClaude({ provider: { mcpServers: { greeter: greeter('Good morning') } } });

test('a configured MCP server is started, and its tool can be called', async () => {
  const call = reply(toolUse('mcp__greeter__greet', { name: 'Ada' }));
  const { listener, provider } = share(() => [call, reply('Done.')]);
  const { turnId } = await listener.send('Greet Ada.');
  const { payload } = await listener.event((event) => 'approvalId' in event);
  const { approvalId = '' } = payload as { approvalId?: string };
  await provider.answerApproval(listener.sessionId, approvalId, { optionId: 'allow_once' });
  const { outputItems } = await listener.ended(turnId);
  expect(outputItems).toContainEqual(
    expect.objectContaining({ type: 'function_call_output', output: 'Good morning, Ada!' }),
  );
});

type Asked = Extract<EventPayload, { type: 'item_start' }>;

/** Runs a turn in which the model calls an MCP server's tool, up to the server's question to people. */
async function elicited(tool: string) {
  const { listener, provider } = share(() => [
    reply(toolUse(`mcp__greeter__${tool}`, {})),
    reply('Done.'),
  ]);
  const { turnId } = await listener.send('Go.');
  const permission = await request(listener, ({ form, title }) => !form && !title?.includes('\n'));
  await provider.answerApproval(listener.sessionId, permission.approvalId!, {
    optionId: 'allow_once',
  });
  const asked = await request(listener, ({ approvalId }) => approvalId !== permission.approvalId);
  const answer = (given: Parameters<typeof provider.answerApproval>[2]) =>
    provider.answerApproval(listener.sessionId, asked.approvalId!, given);
  /** The server's own report of the answer that it received. */
  const told = async (): Promise<unknown> => {
    const { outputItems } = await listener.ended(turnId);
    const result = outputItems.find((item) => item.type === 'function_call_output');
    return JSON.parse(result?.type === 'function_call_output' ? result.output : '');
  };
  return { asked, answer, told };
}

async function request(
  listener: ClaudeListener,
  matches: (asked: Asked) => boolean,
): Promise<Asked> {
  const isAsked = (payload: EventPayload): payload is Asked =>
    payload.type === 'item_start' && payload.itemType === 'approval' && matches(payload);
  return listener.until(() => listener.events.map(({ payload }) => payload).find(isAsked));
}

test('an MCP server’s question is shown as a form, and the server gets the answers', async () => {
  const { asked, answer, told } = await elicited('register');
  expect(asked).toMatchObject({
    title: 'Who are you?',
    form: {
      properties: {
        name: { type: 'string', title: 'Name', description: 'As in your passport.' },
        size: { type: 'string', enum: ['small', 'large'] },
        news: { type: 'boolean', default: false },
      },
      required: ['name'],
    },
  });
  await expect(answer({ optionId: 'accept', content: { size: 'small' } })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: '“Name”: This has to be filled in.',
  });
  const content = { name: 'Ada', size: 'large', news: true };
  await answer({ optionId: 'accept', content });
  expect(await told()).toEqual({ action: 'accept', content });
});

test('an MCP server is informed if people decline', async () => {
  const { answer, told } = await elicited('register');
  await answer({ optionId: 'decline' });
  expect(await told()).toEqual({ action: 'decline' });
});

test('a link that an MCP server asks to open is shown with its address', async () => {
  const { asked, answer, told } = await elicited('sign_in');
  expect(asked.title).toBe('Sign in, please.\nhttps://example.org/sign-in?code=1234');
  await answer({ optionId: 'accept' });
  expect(await told()).toEqual({ action: 'accept' });
});

testAtLength(
  'SAFE: an input with too many values reaches the tool and subscribers whole',
  async () => {
    // More than the 100,000 values that a message may have.
    const count = atLength ? 150_000 : 105_000;
    const values = Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]));
    const input = { values, name: 'Ada' };
    const call = reply(toolUse('mcp__greeter__measure', input));
    const { listener, provider } = share(() => [call, reply('Done.')]);
    const { turnId } = await listener.send('Measure it.');
    const permission = await request(listener, () => true);
    await provider.answerApproval(listener.sessionId, permission.approvalId!, {
      optionId: 'allow_once',
    });
    const { outputItems } = await listener.ended(turnId);
    const size = JSON.stringify(input).length;
    expect(outputItems).toContainEqual(
      expect.objectContaining({ type: 'function_call_output', output: `${size} characters.` }),
    );
    const asked = outputItems.find((item) => item.type === 'function_call');
    expect(JSON.parse(asked!.arguments)).toEqual(input);
  },
);

test('a session’s MCP servers are listed with their states, and each can be switched on and off and reconnected', async () => {
  const { listener, provider } = share(() => []);
  const { sessionId } = listener;
  const all = async () =>
    (await provider.listMcpServers(sessionId)).map(({ name, state }) => [name, state]);
  await expect.poll(all).toEqual([['greeter', 'connected']]);
  expect(await provider.listMcpServers(sessionId)).toEqual([
    {
      name: 'greeter',
      state: 'connected',
      tools: expect.any(Number),
      actions: ['reconnect', 'off'],
    },
  ]);

  expect(await provider.changeMcpServer(sessionId, 'greeter', 'off')).toEqual({});
  expect(await all()).toEqual([['greeter', 'off']]);
  await provider.changeMcpServer(sessionId, 'greeter', 'on');
  await expect.poll(all).toEqual([['greeter', 'connected']]);
  await provider.changeMcpServer(sessionId, 'greeter', 'reconnect');
  await expect.poll(all).toEqual([['greeter', 'connected']]);
  await expect(provider.changeMcpServer(sessionId, 'none', 'reconnect')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('“none”'),
  });
});
