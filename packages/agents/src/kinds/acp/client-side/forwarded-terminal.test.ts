import { expect, test } from 'vitest';
import type { ClientTerminal, ExitStatus } from '../../../contract/client-terminals.ts';
import { ForwardedTerminal } from './forwarded-terminal.ts';

/** A program that runs in a client's terminal; the test controls it. */
function program() {
  const ended = Promise.withResolvers<ExitStatus>();
  const did: string[] = [];
  let said = { output: '', truncated: false };
  let isGone = false;
  const answer = async <T>(value: T): Promise<T> => {
    if (isGone) throw new Error('ACP connection closed');
    return value;
  };
  const terminal: ClientTerminal = {
    output: () => answer(said),
    exited: () => ended.promise,
    kill: async () => {
      await answer(did.push('kill'));
      ended.resolve({ exitCode: null, signal: 'SIGTERM' });
    },
    release: async () => void (await answer(did.push('release'))),
  };
  const shown: string[] = [];
  const exits: ExitStatus[] = [];
  const view = new ForwardedTerminal(terminal, {
    onOutput: (text) => shown.push(text),
    onExit: (exit) => exits.push(exit),
    everyMs: 1,
  });
  return {
    view,
    did,
    exits,
    all: () => shown.join(''),
    prints: (output: string, truncated = false) => (said = { output, truncated }),
    ends: (exitCode: number) => ended.resolve({ exitCode, signal: null }),
    goes: () => {
      isGone = true;
      ended.reject(new Error('ACP connection closed'));
    },
  };
}

test('output is shown once, as it grows, even after the editor has dropped the output’s start', async () => {
  const { view, prints, all, ends, exits } = program();
  const line = (name: string) => `${name} ${'.'.repeat(100)}\n`;
  const [one, two, three, four] = [line('one'), line('two'), line('three'), line('four')];
  prints(one);
  await expect.poll(all).toBe(one);
  prints(one + two);
  await expect.poll(all).toBe(one + two);
  prints(two + three, true);
  await expect.poll(all).toBe(one + two + three);
  prints(four, true);
  ends(3);
  expect(await view.exited).toEqual({ exitCode: 3, signal: null });
  expect(all()).toBe(one + two + three + four);
  expect(exits).toEqual([{ exitCode: 3, signal: null }]);
  expect(await view.output()).toEqual({
    output: four,
    truncated: true,
    exitStatus: { exitCode: 3, signal: null },
  });
});

test('when the editor disconnects, the program’s outcome is unknown and its output stays', async () => {
  const { view, prints, goes, all } = program();
  prints('half\n');
  await expect.poll(all).toBe('half\n');
  goes();
  expect(await view.exited).toEqual({ exitCode: null, signal: null });
  const { output, exitStatus } = await view.output();
  expect(output).toMatch(/^half\n\n\[The editor that ran this program has disconnected/);
  expect(all()).toBe(output);
  expect(exitStatus).toEqual({ exitCode: null, signal: null });
  await view.kill();
  await view.release();
});

test('the program is killed and released in the editor', async () => {
  const { view, did } = program();
  await view.kill();
  expect(await view.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
  await view.release();
  expect(did).toEqual(['kill', 'release']);
});
