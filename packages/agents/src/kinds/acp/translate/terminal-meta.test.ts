import { expect, test } from 'vitest';
import { readTerminalMeta } from './terminal-meta.ts';

const t = { terminal_id: 't' };
const nothing = { terminalId: undefined, output: undefined, exit: undefined, rest: undefined };

test.each([
  [{}, {}],
  [{ terminal_info: t }, { terminalId: 't' }],
  [{ terminal_output: { ...t, data: 'hi' } }, { terminalId: 't', output: 'hi' }],
  [{ terminal_exit: t }, { terminalId: 't', exit: { exitCode: null, signal: null } }],
  [
    { terminal_exit: { ...t, exit_code: 3, signal: 'SIGKILL' } },
    { terminalId: 't', exit: { exitCode: 3, signal: 'SIGKILL' } },
  ],
  [{ terminal_output: t, x: 1 }, { rest: { terminal_output: t, x: 1 } }],
  [
    {
      terminal_info: { terminal_id: 'i' },
      terminal_output: { terminal_id: 'o', data: '' },
      terminal_exit: { terminal_id: 'e', exit_code: 0 },
    },
    { terminalId: 'o', output: '', exit: { exitCode: 0, signal: null } },
  ],
])('%j is read as %j', (meta, read) => {
  expect(readTerminalMeta(meta)).toEqual({ ...nothing, ...read });
});
