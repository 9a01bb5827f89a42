/** Tests `./liminal run --agent local`. The configuration contains only the address of llama.cpp's own server. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LlamaServer } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, type Command, eventually, Home } from '../../packages/cli/test/command.ts';
import { contextLength, llamaServer, prompts } from './stage.ts';

let llama: LlamaServer;
let home: Home;

beforeAll(async () => {
  llama = await llamaServer();
  home = new Home();
  mkdirSync(home.data);
  const models = { local: { type: 'openai', baseUrl: llama.url } };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify({ models }));
});
afterAll(async () => {
  await home.close();
  await llama.close();
});

const run = (prompt: string, ...args: string[]): Command => home.start(['run', prompt, ...args]);
const begin = (prompt: string): Command => run(prompt, '--agent', 'local');
const sessionOf = async (command: Command) => (await command.untilOutput(/^Session (\S+)$/m))[1]!;

test('a conversation continues over several runs, with tool calls and after /compact', async () => {
  const first = begin(prompts.text);
  const session = await sessionOf(first);
  expect(await first.exitCode).toBe(0);
  const said = [first.stdout];
  for (const prompt of [prompts.tool, '/compact something.', prompts.text]) {
    const next = run(prompt, '--session', session);
    expect(await next.exitCode).toBe(0);
    said.push(next.stdout);
  }
  expect(said).toEqual([
    'Good day to you.\n',
    'So be it.\n',
    expect.stringMatching(/^Good day to you\.\n/),
    'Good day to you.\n',
  ]);
});

test('after SIGINT, the model stops generating', async () => {
  const command = begin(prompts.slow);
  await command.untilOutput(/On and on and on/);
  expect(await llama.isBusy()).toBe(true);
  command.signal('SIGINT');
  expect(await command.exitCode).toBe(1);
  expect(command.stderr).toContain('The turn was stopped.');
  await eventually(() => llama.isBusy()).toBe(false);
});

test('the server’s model is listed with the context length with which the server was started', async () => {
  const server = await home.serve();
  const client = clientOf(server);
  const { requests } = client;
  const { sessionId } = await requests.createSession({
    cliType: 'local',
    projectDir: home.project,
  });
  await requests.send(sessionId, prompts.text);
  await eventually(async () => (await requests.status(sessionId)).state).toBe('idle');
  const { turns } = await requests.history(sessionId);
  expect(JSON.stringify(turns)).toContain(`"contextWindow":${contextLength}`);
  client.close();
});

test('if a conversation is too long, the error says what to do', async () => {
  const command = begin(prompts.long);
  expect(await command.exitCode).toBe(1);
  expect(command.stderr).toContain('exceeds the available context size');
  expect(command.stderr).toContain('Send /compact');
});
