/**
 * `liminal acp`: an ACP agent on stdin and stdout for editors, which hands all to the server. An editor runs one for each
 * agent that it has open, so it is small and starts fast: it has no part of the other commands, and runs on every Node
 * that the launcher does.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AcpRelay } from './relay.ts';
import { connectAgain, connectToServer } from './server-for.ts';

const usage = `Usage: liminal acp --agent <type> [options]

Is an ACP agent on stdin and stdout, for editors. It talks to the server that runs on the data folder, or starts one, which
stays when the editor goes.

Options:
  --agent <type>    claude-code, codex, or another that the server has
  --data <folder>   data folder (default: ~/.liminal)
  --config <file>   configuration file of a server that it starts
  -h, --help        this text`;

const options = {
  agent: { type: 'string' },
  data: { type: 'string' },
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Runs until the client closes stdin, and returns the exit code: 0 done, 1 there is no server, 2 not understood.
 * @param args - What stands behind `acp`.
 * @param own - Variables of Liminal's own, taken out of the environment.
 */
export async function main(args: readonly string[], own: NodeJS.ProcessEnv): Promise<number> {
  let flags;
  try {
    flags = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    return misunderstood(messageOf(error));
  }
  if (flags.help === true) {
    console.error(usage);
    return 0;
  }
  const { agent, config } = flags;
  if (agent === undefined) return misunderstood('Say which agent: --agent claude-code.');
  const dataDir = resolve(flags.data ?? (own['LIMINAL_DATA_DIR'] || join(homedir(), '.liminal')));
  const path = `/acp?agent=${encodeURIComponent(agent)}`;
  const server = { dataDir, config, own, path };
  const relay = new AcpRelay({
    connect: async (onLine, needed) =>
      needed ? connectAgain(server, onLine, needed) : connectToServer(server, onLine),
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

function misunderstood(problem: string): number {
  console.error(`${problem}\n(./liminal acp --help says what there is)`);
  return 2;
}

/** The protocol has one, too, which would bring all of its schemas along. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
