import { homedir } from 'node:os';
import { inspect } from 'node:util';
import { Command, CommanderError, Option } from 'commander';
import { hideUrlSecrets, LiminalError, thrownMessage } from '@liminal/protocol';
import { takeOwnEnvironment } from '../bin/own-environment.js';
import { commandFirst } from './command-first.ts';
import type { ExportFlags } from './commands/export.ts';
import type { ForkFlags } from './commands/fork.ts';
import type { BackgroundFlags } from './commands/background.ts';
import type { NotifyFlags } from './commands/notify.ts';
import type { DiffFlags } from './commands/diff.ts';
import type { DirectoriesFlags } from './commands/directories.ts';
import type { McpFlags } from './commands/mcp.ts';
import type { RewindFlags } from './commands/rewind.ts';
import type { RunFlags } from './commands/run.ts';
import type { SessionsFlags } from './commands/sessions.ts';
import type { SteerFlags } from './commands/steer.ts';
import type { TailFlags } from './commands/tail.ts';
import type { TraceFlags } from './commands/trace.ts';
import type { VerifyFlags } from './commands/verify.ts';
import { ConfigError } from './errors.ts';
import { type Config, type Flags, loadConfig } from './config/load.ts';
import { cleanOutputs } from './terminal/clean-outputs.ts';
import { exposedSecrets } from './exposed-secrets.ts';
import { outliveFailedOutputs } from './terminal/failed-output.ts';
import { withMarkedRows } from './terminal/rows.ts';
import { version } from './version.ts';

const listHint = '“./liminal sessions” lists them.';

/** The exit code for an invalid command line or configuration. */
const usageError = 2;

/**
 * Runs one command line and returns its exit code: 0 for success, 1 for a failure, 2 for invalid input. For a failure,
 * prints one sentence.
 */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode = 0;
  const program = createProgram((code) => (exitCode = code));
  const outputFailure = outliveFailedOutputs(process.stdout, process.stderr);
  cleanOutputs(process.stdout, process.stderr);
  try {
    if (Object.keys(process.env).some((name) => /_proxy$/i.test(name))) {
      const { proxyFetch } = await import('@liminal/agents/proxy');
      proxyFetch();
    }
    await program.parseAsync(commandFirst(program, args), { from: 'user' });
    const failure = outputFailure();
    if (failure === undefined) return exitCode;
    console.error(
      `The output could not be written: ${thrownMessage(failure)}. Some of it is lost.`,
    );
    return 1;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
    const isOurs = error instanceof LiminalError;
    const isUnknown = isOurs && error.message.startsWith('There is no session ');
    const hint = isUnknown ? ` ${listHint}` : '';
    console.error(isOurs ? withMarkedRows(error.message + hint) : hideUrlSecrets(inspect(error)));
    return error instanceof ConfigError ? usageError : 1;
  }
}

/**
 * Creates the program with all commands. Each command's code is loaded only when the command is called, so that a
 * server does not load the code of other commands.
 */
function createProgram(done: (exitCode: number) => void): Command {
  const program = emptyProgram();

  const command = (name: string) =>
    program.command(name).addOption(dataOption).addOption(fileOption);

  serverOptions(program.command('serve', { isDefault: true }))
    .description('starts the server (the default command)')
    .action(async (flags: Flags) => {
      const { serve } = await import('./commands/serve.ts');
      done(await serve(configure(flags)));
    });

  command('run <prompt>')
    .description('sends a prompt to an agent and streams the answer')
    .option('--agent <type>', 'agent type', 'claude-code')
    .option('--dir <folder>', 'project folder (default: the current one)')
    .option('--session <id>', 'continue an existing session')
    .option('--add-dir <folder>', 'let the agent use this folder too; repeat for several', collect)
    .option('--profile <name>', 'begin the session with this Codex profile')
    .option('--model <id>', 'use this model, even if it is not listed')
    .addOption(setOption)
    .option('--attach <file>', 'send a file with the prompt; repeat for several', collect)
    .option('--json', 'print one JSON object per line instead of text')
    .action(async (prompt: string, flags: Flags & RunFlags) => {
      const { run } = await import('./commands/run.ts');
      done(await run(prompt, flags, configure(flags)));
    });

  command('tail <sessionId>')
    .description('follows a session')
    .addOption(linesOption)
    .action(async (sessionId: string, flags: Flags & TailFlags) => {
      const { tail } = await import('./commands/tail.ts');
      done(await tail(sessionId, flags, configure(flags)));
    });

  command('steer <sessionId> <message>')
    .description('sends a message to a working agent, in the running turn')
    .option('--attach <file>', 'send a file with the message; repeat for several', collect)
    .action(async (sessionId: string, message: string, flags: Flags & SteerFlags) => {
      const { steer } = await import('./commands/steer.ts');
      done(await steer(sessionId, message, flags, configure(flags)));
    });

  acpCommand(program, done);
  turnCommands(command, done);
  setupCommands(command, done);
  fileCommands(command, done);
  replayCommand(program, done);
  housekeepingCommands(command, done);

  command('link')
    .description('prints a link that signs in one more browser, once')
    .action(async (flags: Flags) => {
      const { printLink } = await import('./commands/link.ts');
      done(await printLink(configure(flags)));
    });

  command('sign-out')
    .description('signs out every browser')
    .action(async (flags: Flags) => {
      const { signOut } = await import('./commands/sign-out.ts');
      done(await signOut(configure(flags)));
    });

  command('projector')
    .description('projects runs into history, for servers that share a Redis and a database')
    .action(async (flags: Flags) => {
      const { projector } = await import('./commands/projector.ts');
      done(await projector(configure(flags)));
    });

  command('tools')
    .description('runs the tools of bare models, for servers that share a Redis and a database')
    .action(async (flags: Flags) => {
      const { tools } = await import('./commands/tools.ts');
      done(await tools(configure(flags)));
    });

  checkCommands(program, command, done);
  return program;
}

const emptyProgram = (): Command =>
  new Command('liminal')
    .description('Runs coding agents and stores everything they say.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(explainUsageError(text)) })
    .showHelpAfterError('(./liminal --help lists the commands)');

/** Replaces commander's error for a common mistake by a sentence that says what to do. */
const explainUsageError = (text: string): string =>
  text.replace(
    /^error: missing required argument 'session(?:Id)?'/,
    `Give the session’s id: ${listHint}`,
  );

/** Registers `acp` only so that the list of commands contains it: `bin/liminal.js` runs `acp` without this program. */
function acpCommand(program: Command, done: (exitCode: number) => void): void {
  program
    .command('acp')
    .description('runs an ACP agent on stdin and stdout, for editors; starts a server if none runs')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags: object, { args }: Command) => {
      const { main: acp } = await import('./acp/main.ts');
      done(await acp(args, takeOwnEnvironment()));
    });
}

/** Commands about one turn: they end the turn, rewind to the turn, or show how long each step took. */
function turnCommands(command: (name: string) => Command, done: (exitCode: number) => void): void {
  command('background <sessionId>')
    .description('moves running commands and subagents to the background')
    .option('--call <id>', 'move only this tool call')
    .action(async (sessionId: string, flags: Flags & BackgroundFlags) => {
      const { background } = await import('./commands/background.ts');
      done(await background(sessionId, flags, configure(flags)));
    });

  command('notify <session>')
    .description('ends the running turn as complete; also accepts notifications from Codex')
    .option('--turn <id>', 'only if this turn runs')
    .action(async (session: string, flags: Flags & NotifyFlags) => {
      const { notify } = await import('./commands/notify.ts');
      done(await notify(session, flags, configure(flags)));
    });

  command('fork <sessionId>')
    .description('forks a session, and prints the new session’s id')
    .option(
      '--turn <number or id>',
      'the last turn that both sessions share (default: the last ended turn)',
    )
    .action(async (sessionId: string, flags: Flags & ForkFlags) => {
      const { fork } = await import('./commands/fork.ts');
      done(await fork(sessionId, flags, configure(flags)));
    });

  command('rewind <sessionId>')
    .description('restores files, the conversation, or both to their state before a turn')
    .requiredOption('--turn <number or id>', 'rewind to the state before this turn')
    .addOption(
      new Option('--scope <scope>', 'what is rewound')
        .choices(['files', 'conversation', 'both'])
        .default('files'),
    )
    .option('--send <message>', 'send this message after the conversation was rewound')
    .option('--dry-run', 'only print what would change')
    .addOption(yesOption)
    .action(async (sessionId: string, flags: Flags & RewindFlags) => {
      const { rewind } = await import('./commands/rewind.ts');
      done(await rewind(sessionId, flags, configure(flags)));
    });

  command('trace <runOrSession>')
    .description('shows the spans of a run, or of each run of a session: where the time went')
    .option('--json', 'print OTLP in JSON, on one line')
    .option('--send', 'send the spans to OTEL_EXPORTER_OTLP_ENDPOINT instead')
    .option('--capture-content', 'include prompts, answers, and the inputs and outputs of tools')
    .action(async (id: string, flags: Flags & TraceFlags) => {
      const { trace } = await import('./commands/trace.ts');
      done(await trace(id, flags, configure(flags), process.env));
    });
}

/** Commands about the setup of a session and its agent, and questions to its model. */
function setupCommands(command: (name: string) => Command, done: (exitCode: number) => void): void {
  command('mcp <sessionId>')
    .description('lists the MCP servers of a session’s agent, or changes one')
    .addOption(mcpChange('--reconnect <name>', 'reconnect a server'))
    .addOption(mcpChange('--on <name>', 'switch a server on'))
    .addOption(mcpChange('--off <name>', 'switch a server off'))
    .addOption(mcpChange('--sign-in <name>', 'print the page to sign in to a server'))
    .action(async (sessionId: string, flags: Flags & McpFlags) => {
      const { mcp } = await import('./commands/mcp.ts');
      done(await mcp(sessionId, flags, configure(flags)));
    });

  command('aside <sessionId> <question>')
    .description(
      'asks a session’s model a question outside the conversation, and prints the answer',
    )
    .action(async (sessionId: string, question: string, flags: Flags) => {
      const { aside } = await import('./commands/aside.ts');
      done(await aside(sessionId, question, configure(flags)));
    });

  command('setup <sessionId>')
    .description('lists a session’s setup: account, permission rules, hooks, skills')
    .action(async (sessionId: string, flags: Flags) => {
      const { setup } = await import('./commands/setup.ts');
      done(await setup(sessionId, configure(flags)));
    });

  command('directories <sessionId>')
    .description('lists or changes a session’s additional folders')
    .option('--add <folder>', 'add a folder; repeat for several', collect)
    .option('--remove <folder>', 'remove a folder; repeat for several', collect)
    .action(async (sessionId: string, flags: Flags & DirectoriesFlags) => {
      const { directories } = await import('./commands/directories.ts');
      done(await directories(sessionId, flags, configure(flags)));
    });
}

/** Commands about a session's files in its project, and about files that contain a session. */
function fileCommands(command: (name: string) => Command, done: (exitCode: number) => void): void {
  command('diff <sessionId>')
    .description('shows how a session’s git work tree differs from its last commit')
    .option('--stat', 'print only the files, with counts of lines')
    .option('--json', 'print one JSON object')
    .action(async (sessionId: string, flags: Flags & DiffFlags) => {
      const { diff } = await import('./commands/diff.ts');
      done(await diff(sessionId, flags, configure(flags)));
    });

  command('export <sessionId>')
    .description('writes a session to a file, without secrets, and prints the file’s name')
    .option('--out <file>', 'the file’s name; the ending .gz packs it (default: liminal-….jsonl)')
    .action(async (sessionId: string, flags: Flags & ExportFlags) => {
      const { exportSession } = await import('./commands/export.ts');
      done(await exportSession(sessionId, flags, configure(flags)));
    });

  command('import <file>')
    .description('imports an exported file; its session can be read, but not continued')
    .action(async (file: string, flags: Flags) => {
      const { importSession } = await import('./commands/import.ts');
      done(await importSession(file, configure(flags)));
    });
}

/** `replay` needs neither a server nor a data folder. */
function replayCommand(program: Command, done: (exitCode: number) => void): void {
  program
    .command('replay <file>')
    .description('replays an exported file in the browser, with a small server of its own')
    .option('--port <number>', 'port (default: a free one)')
    .addOption(noOpenOption)
    .action(async (file: string, flags: Flags) => {
      const { replay } = await import('./commands/replay.ts');
      done(await replay(file, configure({ port: '0', ...flags })));
    });
}

/** Commands that list, mark and delete sessions. */
function housekeepingCommands(
  command: (name: string) => Command,
  done: (exitCode: number) => void,
): void {
  command('sessions')
    .description('lists sessions, pinned ones first')
    .option('--archived', 'list only archived sessions, which are left out otherwise')
    .addOption(linesOption)
    .action(async (flags: Flags & SessionsFlags) => {
      const { listSessions } = await import('./commands/sessions.ts');
      done(await listSessions(flags, configure(flags)));
    });

  const marks = {
    archive: 'archives a session; a message unarchives it',
    unarchive: 'unarchives a session',
    pin: 'keeps a session at the top of lists',
    unpin: 'sorts a session by its time again',
  };
  for (const name of Object.keys(marks) as (keyof typeof marks)[]) {
    command(`${name} <sessionId>`)
      .description(marks[name])
      .action(async (sessionId: string, flags: Flags) => {
        const { markSession } = await import('./commands/housekeeping.ts');
        done(await markSession(name, sessionId, configure(flags)));
      });
  }

  command('delete <sessionId>')
    .description('permanently deletes Liminal’s data of a session')
    .addOption(yesOption)
    .action(async (sessionId: string, flags: Flags & { yes?: boolean }) => {
      const { deleteSession } = await import('./commands/housekeeping.ts');
      done(await deleteSession(sessionId, flags, configure(flags)));
    });
}

/** Commands that check the installation. */
function checkCommands(
  program: Command,
  command: (name: string) => Command,
  done: (exitCode: number) => void,
): void {
  serverOptions(program.command('doctor'))
    .description('checks which agents can run here, and what else is missing')
    .action(async (flags: Flags) => {
      const { doctor } = await import('./commands/doctor.ts');
      done(await doctor(configure(flags)));
    });

  command('verify')
    .description('sends a prompt through an agent, and checks every step up to the trace')
    .option('--agent <type>', 'agent type; without this option, the types are listed')
    .option('--prompt <text>', 'the prompt', verificationPrompt)
    .addOption(setOption)
    .option('--timeout <seconds>', 'how long the turn may take', '120')
    .option('--find-trace <address>', 'the URL of the trace, with {traceId} for its id')
    .option('--json', 'print one JSON object per line, including each event of the log')
    .action(async (flags: Flags & VerifyFlags) => {
      const { verify } = await import('./commands/verify.ts');
      done(await verify(flags, configure(flags)));
    });
}

/** The prompt of seed 001 (A.6). Any agent can answer the prompt without a tool. */
const verificationPrompt = 'Hello world, explain quantum physics in one sentence.';

/** Makes an option that may be given several times. */
function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Options for changing one MCP server; only one of them may be given. */
const mcpChange = (flags: string, description: string): Option =>
  new Option(flags, description).conflicts(
    ['reconnect', 'on', 'off', 'signIn'].filter((name) => name !== optionName(flags)),
  );

const optionName = (flags: string): string => new Option(flags).attributeName();

const dataOption = new Option('--data <folder>', 'data folder (default: ~/.liminal)');
const fileOption = new Option(
  '--config <file>',
  'configuration (default: liminal.json in the data folder)',
);
const linesOption = new Option('--json', 'print one JSON object per line');
const noOpenOption = new Option('--no-open', 'do not open a browser');
const setOption = new Option(
  '--set <id=value>',
  'set an option of the agent; repeat for several',
).argParser(collect);
const yesOption = new Option('--yes', 'do not ask for confirmation');

function serverOptions(command: Command): Command {
  return command
    .option('--port <number>', 'port (default: 4747, or the next free one)')
    .option('--host <host>', 'address to listen on (default: 127.0.0.1)')
    .option('--insecure-host', 'allow an address that other machines can reach, without encryption')
    .option('--token <token>', 'the secret that clients need (default: made at the first start)')
    .addOption(noOpenOption)
    .addOption(dataOption)
    .addOption(fileOption);
}

/**
 * Reads the configuration. Removes Liminal's variables from the environment. Afterwards no agent can inherit the
 * secrets in these variables, or read these secrets in the environments of processes.
 */
function configure(flags: Flags): Config {
  const own = takeOwnEnvironment();
  const env = { ...process.env, ...own };
  const config = loadConfig(flags, { env, cwd: process.cwd(), home: homedir() });
  const exposed = exposedSecrets(own);
  if (exposed !== undefined) console.error(exposed);
  return config;
}
