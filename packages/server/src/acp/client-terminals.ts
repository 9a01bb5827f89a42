import {
  type CreateTerminalRequest,
  methods,
  type TerminalOutputRequest,
} from '@agentclientprotocol/sdk/unstable';
import type { AttachedClient } from '@liminal/runtime';
import { type ClientSession, until } from './client-files.ts';
import { clientPath } from './client-paths.ts';

/** How long a client may take to return a program's output, or to kill or release a terminal, in ms. */
const answerMs = 10_000;

/** Runs programs in the client's terminals, if the client offers terminals. */
export function clientTerminals(clientSession: ClientSession): Pick<AttachedClient, 'runProgram'> {
  const { client, capabilities, sessionId } = clientSession;
  if (capabilities.terminal !== true) return {};
  const { terminal } = methods.client;
  return {
    runProgram: async ({ command, args, env, cwd, outputLimit }, signal) => {
      const request: CreateTerminalRequest = {
        sessionId,
        command,
        args: [...args],
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
        cwd: clientPath(clientSession, cwd),
        outputByteLimit: outputLimit,
      };
      const { terminalId } = await client.request(terminal.create, request, until(signal));
      const target: TerminalOutputRequest = { sessionId, terminalId };
      const soon = () => until(AbortSignal.timeout(answerMs));
      return {
        output: async () => {
          const { output, truncated } = await client.request(terminal.output, target, soon());
          return { output, truncated };
        },
        exited: async () => {
          const { exitCode, signal: name } = await client.request(terminal.waitForExit, target);
          return { exitCode: exitCode ?? null, signal: name ?? null };
        },
        kill: async () => {
          await client.request(terminal.kill, target, soon());
        },
        release: async () => {
          await client.request(terminal.release, target, soon());
        },
      };
    },
  };
}
