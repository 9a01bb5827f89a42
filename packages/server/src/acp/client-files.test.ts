import {
  type AgentContext,
  type ClientCapabilities,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import { expect, test } from 'vitest';
import { type ClientSession, clientFiles } from './client-files.ts';
import { clientTerminals } from './client-terminals.ts';

interface Call {
  method: string;
  params: unknown;
  options: { cancellationSignal?: AbortSignal; stopWaitingOnCancel?: boolean } | undefined;
}

/**
 * Creates a client that uses the path `/link` for the project's folder `/real`. The client's requests are recorded, and
 * `answer` returns the responses.
 */
function place(capabilities: ClientCapabilities, answer: (call: Call) => unknown = () => ({})) {
  const calls: Call[] = [];
  const request = async (method: string, params: unknown, options?: Call['options']) => {
    const call = { method, params, options };
    calls.push(call);
    return answer(call);
  };
  const client = { request } as unknown as AgentContext;
  const attached: ClientSession = {
    client,
    capabilities,
    sessionId: 'one',
    cwd: '/link',
    projectDir: '/real',
  };
  return { attached, calls };
}

const { signal } = new AbortController();

test.each<[string, ClientCapabilities, string[]]>([
  ['no files', {}, []],
  ['no files by name', { fs: { readTextFile: false, writeTextFile: false } }, []],
  ['only reading', { fs: { readTextFile: true } }, ['readText']],
  ['only writing', { fs: { writeTextFile: true } }, ['writeText']],
])('if a client supports %s, it gets no requests for anything else', (_, capabilities, names) => {
  expect(Object.keys(clientFiles(place(capabilities).attached))).toEqual(names);
});

test('a file, or a part of a file, is read by the path that the client uses', async () => {
  const { attached, calls } = place({ fs: { readTextFile: true } }, () => ({ content: 'text' }));
  const { readText } = clientFiles(attached);
  expect(await readText?.('/real/a.txt', {}, signal)).toBe('text');
  expect(await readText?.('/real/a.txt', { line: 2, limit: 3 }, signal)).toBe('text');
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
  expect(calls).toEqual([
    { method: 'fs/read_text_file', params: { sessionId: 'one', path: '/link/a.txt' }, options },
    {
      method: 'fs/read_text_file',
      params: { sessionId: 'one', path: '/link/a.txt', line: 2, limit: 3 },
      options,
    },
  ]);
});

test('a file is written by the path that the client uses', async () => {
  const { attached, calls } = place({ fs: { writeTextFile: true } });
  await clientFiles(attached).writeText?.('/real/a.txt', 'text', signal);
  expect(calls).toEqual([
    {
      method: 'fs/write_text_file',
      params: { sessionId: 'one', path: '/link/a.txt', content: 'text' },
      options: { cancellationSignal: signal, stopWaitingOnCancel: true },
    },
  ]);
});

test('if the client refuses a write, the write fails with the client’s message', async () => {
  const refusal = new RequestError(-32_000, 'The buffer is locked.');
  const { attached } = place({ fs: { writeTextFile: true } }, () => {
    throw refusal;
  });
  const writing = clientFiles(attached).writeText?.('/real/a.txt', 'text', signal);
  await expect(writing).rejects.toMatchObject({
    code: 'CLIENT_REFUSED',
    message: 'The buffer is locked.',
    cause: refusal,
  });
});

test('if a write is aborted, or the connection ends, the write fails with the original error', async () => {
  const ended = new Error('The connection has ended.');
  const refusal = new RequestError(-32_000, 'It was cancelled.');
  const failing = (error: Error, given: AbortSignal) => {
    const { attached } = place({ fs: { writeTextFile: true } }, () => {
      throw error;
    });
    return clientFiles(attached).writeText?.('/real/a.txt', 'text', given);
  };
  await expect(failing(ended, signal)).rejects.toBe(ended);
  await expect(failing(refusal, AbortSignal.abort())).rejects.toBe(refusal);
});

const program = {
  command: 'npm',
  args: ['test'],
  env: { A: '1', B: '2' },
  cwd: '/real/sub',
  outputLimit: 1_000,
};

test.each<ClientCapabilities>([{}, { terminal: false }])(
  'for a client without terminals, no program can be run: %j',
  (capabilities) => {
    expect(clientTerminals(place(capabilities).attached)).toEqual({});
  },
);

test('a program runs in a terminal of the client, in the folder by the path that the client uses', async () => {
  const { attached, calls } = place({ terminal: true }, () => ({ terminalId: 't' }));
  await clientTerminals(attached).runProgram?.(program, signal);
  expect(calls).toEqual([
    {
      method: 'terminal/create',
      params: {
        sessionId: 'one',
        command: 'npm',
        args: ['test'],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: '2' },
        ],
        cwd: '/link/sub',
        outputByteLimit: 1_000,
      },
      options: { cancellationSignal: signal, stopWaitingOnCancel: true },
    },
  ]);
});

test('the output and the exit of a client’s terminal can be read, and the terminal can be killed and released', async () => {
  const answers: Record<string, unknown> = {
    'terminal/create': { terminalId: 't' },
    'terminal/output': { output: 'Hi', truncated: false, exitStatus: null },
    'terminal/wait_for_exit': { exitCode: 0, signal: null },
    'terminal/kill': {},
    'terminal/release': {},
  };
  const { attached, calls } = place({ terminal: true }, ({ method }) => answers[method]);
  const running = await clientTerminals(attached).runProgram?.(program, signal);
  expect(await running?.output()).toEqual({ output: 'Hi', truncated: false });
  expect(await running?.exited()).toEqual({ exitCode: 0, signal: null });
  answers['terminal/wait_for_exit'] = { signal: 'SIGKILL' };
  expect(await running?.exited()).toEqual({ exitCode: null, signal: 'SIGKILL' });
  answers['terminal/wait_for_exit'] = {};
  expect(await running?.exited()).toEqual({ exitCode: null, signal: null });
  await running?.kill();
  await running?.release();
  const after = calls.slice(1);
  expect(after.map(({ method }) => method)).toEqual([
    'terminal/output',
    'terminal/wait_for_exit',
    'terminal/wait_for_exit',
    'terminal/wait_for_exit',
    'terminal/kill',
    'terminal/release',
  ]);
  for (const { params } of after) expect(params).toEqual({ sessionId: 'one', terminalId: 't' });
  // Only waiting for a program's exit has no time limit, because a program may run for hours.
  expect(after.map(({ options }) => options?.stopWaitingOnCancel)).toEqual([
    true,
    undefined,
    undefined,
    undefined,
    true,
    true,
  ]);
});
