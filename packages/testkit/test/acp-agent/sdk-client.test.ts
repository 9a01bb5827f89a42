/** Checks that the scripted agent works with the SDK for ACP clients. */
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { client, methods, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, onTestFinished, test } from 'vitest';
import {
  acpAgent,
  contractPrompts,
  contractScript,
  sampleUpdates,
  type AgentScript,
} from '../../src/index.ts';

/** Connects a client of the SDK that allows every request. */
async function connect(script: AgentScript) {
  const { command, args, env, control } = await acpAgent(script);
  onTestFinished(() => control.close());
  const { stdin, stdout } = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const updates: SessionUpdate[] = [];
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => ({
      outcome: { outcome: 'selected', optionId: options[0]!.optionId },
    }));
  // The two libraries declare different types for the same web stream.
  const fromAgent = Readable.toWeb(stdout) as ReadableStream<Uint8Array>;
  const connection = app.connect(ndJsonStream(Writable.toWeb(stdin), fromAgent));
  onTestFinished(() => connection.close());
  const { agent } = connection;
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  return { agent, control, updates };
}

test('the SDK’s client plays a whole session, and then loads it', async () => {
  const { agent, updates } = await connect(contractScript);
  const { sessionId, modes } = await agent.request(methods.agent.session.new, {
    cwd: '/',
    mcpServers: [],
  });
  const ask = (text: string) =>
    agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });

  expect(modes?.currentModeId).toBe('ask');
  expect(await ask(contractPrompts.tool)).toEqual({ stopReason: 'end_turn' });
  expect(await ask(contractPrompts.approval)).toEqual({ stopReason: 'end_turn' });
  await expect(ask(contractPrompts.error)).rejects.toMatchObject({ code: -32603 });

  expect(updates.at(-1)).toMatchObject({ content: { text: 'It is written.' } });
  const before = updates.length;
  await agent.request(methods.agent.session.load, { sessionId, cwd: '/', mcpServers: [] });
  expect(updates.slice(before).map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    'user_message_chunk',
    'tool_call',
    'agent_message_chunk',
    'user_message_chunk',
    'tool_call',
    'agent_message_chunk',
    'user_message_chunk',
  ]);
});

test('the SDK accepts every sample update', async () => {
  const steps = sampleUpdates.map((update) => ({ update }));
  const { agent, updates } = await connect({ turns: [{ steps }] });
  const { sessionId } = await agent.request(methods.agent.session.new, {
    cwd: '/',
    mcpServers: [],
  });

  await agent.request(methods.agent.session.prompt, { sessionId, prompt: [] });

  expect(updates).toEqual(sampleUpdates);
});
