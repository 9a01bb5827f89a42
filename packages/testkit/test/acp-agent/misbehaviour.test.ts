import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { acpAgent, type Step } from '../../src/index.ts';
import { runAgent } from './raw-client.ts';

/** Begins a turn with these steps. */
async function play(steps: Step[]) {
  const { agent, client } = await runAgent({ turns: [{ steps }] });
  const sessionId = await client.session();
  return { ...agent, client, sessionId, answer: client.prompt(sessionId, 'Go.') };
}

test('text that is not part of the protocol is sent unchanged', async () => {
  const { client, answer } = await play([
    { raw: '{"jsonrpc":' },
    { raw: 'half a ', end: '' },
    { raw: 'line', end: '\r\n' },
    { bytes: Buffer.from([0xff, 0xfe, 0x0a]).toString('base64') },
    { raw: `"${'x'.repeat(1_000_000)}"` },
  ]);

  await answer;

  const said = client.lines.slice(-5, -1);
  expect(said.slice(0, 3)).toEqual(['{"jsonrpc":', 'half a line\r', '\ufffd\ufffd']);
  expect(said[3]).toHaveLength(1_000_002);
});

test('the test can make the agent send a line at any time', async () => {
  const { agent, client } = await runAgent({});
  await agent.control.process();

  agent.control.write({ jsonrpc: '2.0', id: 99, result: 'unasked' });
  agent.control.write('not json');

  await client.until(({ id }) => id === 99);
  await client.request('initialize');
  expect(client.lines[1]).toBe('not json');
});

test('the agent can send messages before it receives any', async () => {
  const { client } = await runAgent({ onStart: [{ raw: 'Starting…' }, { stderr: 'warning' }] });

  await client.request('initialize');

  expect(client.lines[0]).toBe('Starting…');
  await expect.poll(() => client.stderr).toBe('warning\n');
});

test('a line that is not JSON is answered with a parse error, and the agent continues', async () => {
  const { agent, client } = await runAgent({});

  client.write('{');

  await client.until(({ id, error }) => id === null && error !== undefined);
  expect(await client.request('initialize')).toHaveProperty('result');
  expect(agent.control.received.map(({ line }) => line)[0]).toBe('{');
});

test('the agent ends as the script says, after its messages were sent', async () => {
  const { client, sessionId } = await play([{ say: 'last words' }, { exit: { code: 3 } }]);

  expect(await client.ended()).toEqual({ code: 3, signal: null });

  await client.until(() => client.agentText(sessionId) === 'last words');
});

test('the test can kill the agent', async () => {
  const { client, control } = await play([{ hang: true }]);
  await control.until('session/prompt');

  await control.crash();

  expect(await client.ended()).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a silent agent reads nothing and sends nothing, but its process runs', async () => {
  const { agent, client } = await runAgent({
    turns: [
      { when: 'silence', steps: [{ silence: true }] },
      { steps: [{ gate: 'on' }, { spawn: { argv: ['true'] } }, { say: 'more' }] },
    ],
  });
  const { control } = agent;
  for (const prompt of ['go on', 'silence']) void client.prompt(await client.session(), prompt);
  const { pid } = await control.reached('silence');
  const before = client.lines.length;

  client.cancel('any');
  client.endInput();
  control.write('through the silence');
  control.open('on');
  await control.children();

  process.kill(pid, 'SIGTERM');
  expect(await client.ended()).toEqual({ code: null, signal: 'SIGTERM' });
  expect(client.lines).toHaveLength(before);
  expect(control.received.at(-1)).toMatchObject({ method: 'session/prompt' });
});

test('the agent ends when its stdin ends, or outlives its stdin if the script says so', async () => {
  const { client } = await runAgent({});
  const { agent, client: stubborn } = await runAgent({ outlivesStdin: true, ignoresTerm: true });
  await Promise.all([client.request('initialize'), stubborn.request('initialize')]);

  for (const one of [client, stubborn]) one.endInput();

  expect(await client.ended()).toEqual({ code: 0, signal: null });
  stubborn.process.kill('SIGTERM');
  agent.control.write({ still: 'here' });
  await stubborn.until((message) => message['still'] === 'here');
  expect(agent.control.processes[0]?.alive).toBe(true);
});

test('programs that the agent starts outlive the agent, hold its stdout, and end with the test', async () => {
  const survives = ['sh', '-c', 'kill -TERM $$; echo survived; exec sleep 600'];
  const { client, control, answer } = await play([
    { spawn: { detached: true } },
    { spawn: { argv: survives, ignoresTerm: true, holdsStdout: true } },
  ]);
  await answer;
  await client.line('survived');
  const children = await control.children(2);
  let closed = false;
  const stdout = once(client.process.stdout!, 'close').then(() => (closed = true));

  await control.crash();
  await client.ended();

  expect(children.map(isAlive)).toEqual([true, true]);
  expect(closed).toBe(false);
  await control.close();
  await stdout;
  await Promise.all(children.map(gone));
});

test('a long turn can be stopped in the middle', async () => {
  const { client } = await runAgent({
    turns: [
      { when: 'flood', steps: [{ flood: { count: 1e9 } }] },
      { when: 'pace', steps: [{ flood: { count: 1e9, rate: 100, text: 'more' } }] },
      { when: 'fuzz', steps: [{ fuzz: { seed: 1, count: 1e9 } }] },
      { when: 'repeat', steps: [{ repeat: { times: 1e9, steps: [{ say: '{{i}} ' }] } }] },
      { when: 'pause', steps: [{ say: '.' }, { pauseMs: 1e9 }] },
    ],
  });
  for (const prompt of ['flood', 'pace', 'fuzz', 'repeat', 'pause']) {
    const sessionId = await client.session();
    const answer = client.prompt(sessionId, prompt);
    await client.until(() => client.updates(sessionId).length > 0);

    client.cancel(sessionId);

    expect(await answer).toMatchObject({ result: { stopReason: 'cancelled' } });
  }
});

test('all chunks of a flood arrive in order, and each contains the time at which it was written', async () => {
  const count = 20_000;
  const { client, sessionId, answer } = await play([{ flood: { count, text: 'x' } }]);

  await answer;

  const texts = client.updates(sessionId).map(({ content }) => (content as { text: string }).text);
  expect(texts).toHaveLength(count);
  expect(texts.every((text) => /^\d{15} x$/.test(text))).toBe(true);
  expect(texts).toEqual(texts.toSorted());
});

test('a flood with a given rate keeps this rate', async () => {
  const { client, sessionId, answer } = await play([{ flood: { count: 100, rate: 500 } }]);

  await answer;

  const times = client
    .updates(sessionId)
    .map(({ content }) => Number((content as { text: string }).text));
  // 100 chunks at 500 a second take 198 ms. A busy machine may take longer, but never less.
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(190_000);
  expect(times).toHaveLength(100);
});

test('an invalid script is rejected when it is written', async () => {
  const steps = [{ shout: 'no such step' }] as unknown as Step[];

  await expect(acpAgent({ turns: [{ steps }] })).rejects.toThrow('Invalid input');
});

test('if it is started in any other way, the program prints its usage', () => {
  const main = fileURLToPath(new URL('../../src/acp-agent/program/main.ts', import.meta.url));

  const { status, stderr } = spawnSync(process.execPath, [main, '--help'], { encoding: 'utf8' });

  expect(status).toBe(2);
  expect(stderr).toMatch(/^Usage: node main\.ts FOLDER/);
});

test('after the control is closed, no process and no file is left', async () => {
  const { agent, client } = await runAgent({});
  await client.request('initialize');
  const folder = agent.args[1]!;
  expect(existsSync(folder)).toBe(true);

  await agent.control.close();

  expect(existsSync(folder)).toBe(false);
  expect((await client.ended()).signal).toBe('SIGKILL');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits for the end of a process that is not a child of this one. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}
