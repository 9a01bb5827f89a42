/** Programs that an agent runs through Liminal, and files that the agent reads and writes through Liminal. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentScript, Step } from '@liminal/testkit';
import { describe, expect, test } from 'vitest';
import { readProcess } from '../../src/process/table.ts';
import { runAgent, messagesOf } from './running-agent.ts';

const call = (method: string, params: Record<string, unknown>, more: object = {}): Step => ({
  request: { method, params, id: method, ...more },
});
const create = (params: Record<string, unknown>): Step =>
  call('terminal/create', params, { as: 'terminal' });
const terminal = (method: string, more: object = {}): Step =>
  call(`terminal/${method}`, { terminalId: '{{terminal.terminalId}}' }, more);

/** A call that shows the terminal. */
const shown: Step = {
  update: {
    sessionUpdate: 'tool_call',
    toolCallId: 'call',
    title: 'Run it',
    kind: 'execute',
    status: 'in_progress',
    content: [{ type: 'terminal', terminalId: '{{terminal.terminalId}}' }],
  },
};

async function play(...steps: Step[]) {
  const running = await runAgent({ turns: [{ steps }] }, { files: { 'notes.txt': 'a\nb\n' } });
  const listener = await running.create();
  const answerOf = (id: string) => running.control.until((one) => one.id === id);
  return { ...running, listener, answerOf };
}

test('the agent gets a program’s output and exit code, and the call shows them as they arrive', async () => {
  const { listener, answerOf, projectDir } = await play(
    create({
      command: 'sh',
      args: ['-c', 'echo "$GREETING from $(pwd)"; echo oops >&2; exit 3'],
      env: [{ name: 'GREETING', value: 'Hello' }],
    }),
    shown,
    terminal('wait_for_exit'),
    terminal('output'),
    terminal('release'),
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'call', status: 'completed' } },
  );
  const response = await listener.ask('Run it.');

  expect((await answerOf('terminal/wait_for_exit')).result).toEqual({ exitCode: 3, signal: null });
  expect((await answerOf('terminal/output')).result).toEqual({
    output: expect.stringContaining(`Hello from ${projectDir}\n`),
    truncated: false,
    exitStatus: { exitCode: 3, signal: null },
  });
  expect((await answerOf('terminal/release')).result).toEqual({});
  const output = response.outputItems.find((item) => item.type === 'function_call_output');
  expect(output).toMatchObject({
    callId: 'call',
    output: expect.stringContaining(`Hello from ${projectDir}\n`),
  });
});

test('a command without arguments is a shell command line, as agents send it', async () => {
  const { listener, answerOf } = await play(
    create({ command: 'printf one && printf two' }),
    terminal('wait_for_exit'),
    terminal('output'),
  );
  await listener.ask('Run it.');
  expect((await answerOf('terminal/output')).result).toMatchObject({ output: 'onetwo' });
});

test('the agent gets the end of an output that exceeds its limit', async () => {
  const { listener, answerOf } = await play(
    create({ command: 'for i in $(seq 1 2000); do echo "€ $i"; done', outputByteLimit: 25 }),
    terminal('wait_for_exit'),
    terminal('output'),
  );
  await listener.ask('Run it.');
  const { output, truncated } = (await answerOf('terminal/output')).result as Record<
    string,
    unknown
  >;
  expect(truncated).toBe(true);
  expect(output).toMatch(/^[^�]*1999\n€ 2000\n$/);
  expect(Buffer.byteLength(String(output))).toBeLessThanOrEqual(25);
});

test('a killed program keeps its output, and a released program’s terminal no longer exists', async () => {
  const { listener, answerOf, control } = await play(
    create({ command: 'echo begun; sleep 600' }),
    { gate: 'begun' },
    terminal('kill'),
    terminal('wait_for_exit'),
    terminal('output'),
    terminal('release'),
    call('terminal/output', { terminalId: '{{terminal.terminalId}}' }, { id: 'after release' }),
  );
  const turnId = await listener.send('Run it.');
  await control.reached('begun');
  control.open('begun');
  await listener.ended(turnId);
  expect((await answerOf('terminal/wait_for_exit')).result).toEqual({
    exitCode: null,
    signal: 'SIGTERM',
  });
  expect((await answerOf('terminal/output')).result).toMatchObject({
    exitStatus: { signal: 'SIGTERM' },
  });
  expect((await answerOf('after release')).error).toMatchObject({ code: -32002 });
});

test('INV-8: processes that programs leave behind end with the session', async () => {
  const { listener, control, provider } = await play(
    create({ command: 'setsid sleep 600 >/dev/null 2>&1 & echo $!; sleep 600' }),
    { pauseMs: 50 },
    { repeat: { times: 50, steps: [{ pauseMs: 20 }, terminal('output')] } },
  );
  await listener.ask('Run it.');
  const { line } = await control.until(({ line: one }) => /"output":"\d+/.test(one));
  const left = Number(/"output":"(\d+)/.exec(line)?.[1]);
  expect(readProcess(left)).toBeDefined();

  await provider.killSession(listener.sessionId);

  expect(readProcess(left)).toBeUndefined();
});

describe('stopping a turn', () => {
  /** Prints three pids: the program's, a background process's, and that of a process which ignores SIGTERM. */
  const program = `echo $$; sleep 600 & echo $!; setsid sh -c 'trap "" TERM; echo $$; sleep 600' & wait; sleep 600`;
  const pidsIn = (text: string): number[] => text.match(/^\d+$/gm)?.map(Number) ?? [];
  const running = (pids: number[]): number[] => pids.filter((pid) => readProcess(pid));
  const stopped = '(Stopped with the turn, including all processes that it started.)';

  async function playUntilStopped(cancel: AgentScript['cancel'], provider = {}) {
    const { create: begin, ...rest } = await runAgent(
      {
        cancel,
        turns: [{ steps: [create({ command: program }), shown, { hang: true }] }],
      },
      { provider },
    );
    const listener = await begin();
    const turnId = await listener.send('Run it.');
    const pids = await listener.until(() => {
      const said = listener.of(turnId).map(({ payload }) => {
        const isOutput = payload.type === 'item_delta' && payload.itemId.includes(':output:');
        return isOutput ? payload.deltaContent : '';
      });
      const printed = pidsIn(said.join(''));
      return printed.length === 3 ? printed : undefined;
    });
    expect(running(pids)).toEqual(pids);
    return { ...rest, listener, turnId, pids };
  }

  test.each(['cancelled', 'end_turn', 'error', 'never', 'ignore'] as const)(
    'INV-8: a stop ends the turn’s programs, and their items say so, even if the agent does not kill or release them and answers with %s',
    async (cancel) => {
      const { listener, turnId, pids, provider } = await playUntilStopped(cancel, {
        cancelLimitMs: cancel === 'never' || cancel === 'ignore' ? 2_000 : 60_000,
      });

      await provider.cancelTurn(listener.sessionId);
      const response = await listener.response(turnId);

      expect(running(pids)).toEqual([]);
      expect(response.status).toBe('aborted');
      const output = response.outputItems.find((item) => item.type === 'function_call_output');
      expect(output).toMatchObject({ success: false, output: expect.stringContaining(stopped) });
    },
  );

  test('after a stop, the cancelled turn cannot start programs; later turns can', async () => {
    const late = call('terminal/create', { command: 'sleep 600' }, { id: 'late' });
    const {
      create: begin,
      provider,
      control,
    } = await runAgent({
      turns: [
        { when: 'first', steps: [{ say: 'Well.' }, { hang: true }], onCancel: [late] },
        { steps: [create({ command: 'true' }), terminal('wait_for_exit')] },
      ],
    });
    const listener = await begin();
    const turnId = await listener.send('The first.');
    await listener.event(turnId, 'item_delta');

    await provider.cancelTurn(listener.sessionId);
    await listener.ended(turnId);

    const refused = await control.until(({ id }) => id === 'late');
    expect(refused.error).toMatchObject({ message: expect.stringContaining('cancelled') });
    await listener.ask('The second.');
    const answer = await control.until(({ id }) => id === 'terminal/wait_for_exit');
    expect(answer.result).toEqual({ exitCode: 0, signal: null });
  });

  test('a stop does not end a program of an earlier turn if the agent still holds its terminal; the program ends with the session', async () => {
    const pidOf = async (text: string) => {
      const { line } = await control.until(({ line: one }) => one.includes(`"output":"${text}`));
      return Number(new RegExp(`"output":"${text} (\\d+)`).exec(line)?.[1]);
    };
    const print = (text: string) => [
      create({ command: `echo ${text} $$; exec sleep 600` }),
      { repeat: { times: 50, steps: [{ pauseMs: 20 }, terminal('output')] } },
    ];
    const {
      create: begin,
      provider,
      control,
    } = await runAgent({
      turns: [
        { when: 'first', steps: print('first') },
        { steps: [...print('second'), { say: 'Begun.' }, { hang: true }] },
      ],
    });
    const listener = await begin();
    await listener.ask('The first.');
    const first = await pidOf('first');
    const turnId = await listener.send('The second.');
    await listener.event(turnId, 'item_delta');
    const second = await pidOf('second');
    expect(running([first, second])).toEqual([first, second]);

    await provider.cancelTurn(listener.sessionId);
    await listener.ended(turnId);
    expect(running([first, second])).toEqual([first]);

    await provider.killSession(listener.sessionId);
    expect(running([first])).toEqual([]);
  });
});

test('a program that cannot be run is reported', async () => {
  const { listener, answerOf } = await play(
    create({ command: 'no-such-program', args: ['x'] }),
    call('terminal/output', { terminalId: 'none' }, { id: 'unknown' }),
    call('terminal/create', { command: 'true', cwd: '/no/such/folder' }, { id: 'nowhere' }),
  );
  await listener.ask('Run it.');
  expect((await answerOf('terminal/create')).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('no-such-program'),
  });
  expect((await answerOf('unknown')).error).toMatchObject({ code: -32002 });
  expect((await answerOf('nowhere')).error).toMatchObject({ code: -32602 });
});

test('files inside the project are read and written, other files are not', async () => {
  const { listener, answerOf, projectDir } = await play(
    call('fs/read_text_file', { path: '{{cwd}}/notes.txt', line: 2, limit: 1 }, { as: 'read' }),
    call('fs/write_text_file', { path: '{{cwd}}/new/file.txt', content: '{{read.content}}!' }),
    call('fs/read_text_file', { path: '/etc/hostname' }, { id: 'outside' }),
    { say: 'Done.' },
  );
  const response = await listener.ask('Copy.');
  expect((await answerOf('fs/read_text_file')).result).toEqual({ content: 'b' });
  expect((await answerOf('fs/write_text_file')).result).toEqual({});
  expect(readFileSync(join(projectDir, 'new/file.txt'), 'utf8')).toBe('b!');
  expect((await answerOf('outside')).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('/etc/hostname'),
  });
  expect(messagesOf(response)).toContain('agent: Done.');
});

test('a program that floods its terminal does not flood memory or log', async () => {
  const { listener, answerOf } = await play(
    create({ command: 'head -c 20000000 /dev/zero | tr "\\0" x; echo; echo the end' }),
    shown,
    terminal('wait_for_exit'),
    terminal('output'),
    { update: { sessionUpdate: 'tool_call_update', toolCallId: 'call', status: 'completed' } },
  );
  const turnId = await listener.send('Run it.');
  const events = await listener.ended(turnId);
  const { output, truncated } = (await answerOf('terminal/output')).result as Record<
    string,
    unknown
  >;
  expect(truncated).toBe(true);
  expect(String(output).length).toBeLessThanOrEqual(1024 * 1024);
  expect(String(output)).toMatch(/the end\n$/);
  const streamed = events.map(({ payload }) =>
    payload.type === 'item_delta' ? JSON.stringify(payload).length : 0,
  );
  expect(streamed.reduce((sum, length) => sum + length, 0)).toBeLessThan(2_000_000);
});

test('SAFE: all terminals of a session together keep a bounded part of their output', async () => {
  const size = 8 * 1024 * 1024;
  const names = Array.from({ length: 8 }, (_, at) => `t${at}`);
  const ofEach = names.flatMap((name) => {
    const params = { terminalId: `{{${name}.terminalId}}` };
    return [
      call(
        'terminal/create',
        {
          command: `head -c ${size} /dev/zero | tr '\\0' a`,
          outputByteLimit: size,
        },
        { id: `create ${name}`, as: name },
      ),
      call('terminal/wait_for_exit', params, { id: `wait ${name}` }),
      call('terminal/output', params, { id: `output ${name}` }),
    ];
  });
  const { listener, answerOf } = await play(...ofEach);
  await listener.ask('Run them.');
  const lengths = [];
  for (const name of names) {
    const { output } = (await answerOf(`output ${name}`)).result as { output: string };
    lengths.push(output.length);
  }
  const least = 64 * 1024;
  expect(lengths).toEqual([size, size, size, size, least, least, least, least]);
});
