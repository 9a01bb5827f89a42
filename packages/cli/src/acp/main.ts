/**
 * `liminal acp`: an ACP agent on stdin and stdout for editors, which relays all messages to the server. An editor runs
 * one process per open agent. The program is therefore small and starts fast: it contains no code of the other
 * commands, and runs on every Node version that the launcher supports.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AcpRelay } from './relay.ts';
import { reconnect, connectToServer } from './connect-to-server.ts';

const usage = `Usage: liminal acp --agent <type> [options]

Runs an ACP agent on stdin and stdout, for editors. It connects to the server that runs on the data folder, or starts one,
which keeps running when the editor closes.

Options:
  --agent <type>    claude-code, codex, or another agent type of the server
  --data <folder>   data folder (default: ~/.liminal)
  --config <file>   configuration file for a server that it starts
  -h, --help        this text`;

const options = {
  agent: { type: 'string' },
  data: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Runs until the client closes stdin. Returns the exit code: 0 for success, 1 if no server can be reached, 2 for
 * invalid arguments.
 * @param args - The arguments after `acp`.
 * @param own - Liminal's own variables, removed from the environment.
 */
export async function main(args: readonly string[], own: NodeJS.ProcessEnv): Promise<number> {
  let flags;
  try {
    flags = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    return reportUsageError(messageOf(error));
  }
  if (flags.help === true) {
    console.error(usage);
    return 0;
  }
  const { agent, config } = flags;
  if (agent === undefined)
    return reportUsageError('Name the agent, for example: --agent claude-code.');
  const dataDir = resolve(flags.data ?? (own['LIMINAL_DATA_DIR'] || join(homedir(), '.liminal')));
  const path = `/acp?agent=${encodeURIComponent(agent)}`;
  const server = { dataDir, config, own, path };
  const relay = new AcpRelay({
    connect: async (onLine, needed) =>
      needed ? reconnect(server, onLine, needed) : connectToServer(server, onLine),
    stdin: process.stdin,
    stdout: process.stdout,
  });
  try {
    await relay.run();
    return 0;
  } catch (error) {
    console.error(messageOf(error));
    return 1;
  }
}

function reportUsageError(problem: string): number {
  console.error(`${problem}\n(./liminal acp --help lists the options)`);
  return 2;
}

/**
 * Returns the error's message. This is a copy of the function in `protocol`, because importing that function would load
 * all schemas of `protocol`.
 */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
