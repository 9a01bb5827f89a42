import { asError, LineSplitter, thrownMessage, tailOf } from '@liminal/protocol';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { endTree, type ProcessMark, processMark } from '../process/index.ts';
import { childEnvironment } from './child-environment.ts';
import { findProgram } from './find-program.ts';
import { ProtocolBreach } from './protocol-breach.ts';

export interface ProcessCommand {
  /** The agent type that the process belongs to. */
  cliType?: string | undefined;
  command: string;
  args: readonly string[];
  /** Configured variables, added to the inherited ones. */
  env: Record<string, string>;
  inherited: NodeJS.ProcessEnv;
  cwd: string;
}

export interface AgentProcessEvents {
  /** Called with each line of output. If the call returns a promise, the next line waits until the promise resolves. */
  onLine: (line: string) => void | Promise<void>;
  /** Called once, after the last line, when the process or its output has ended. */
  onGone: (reason: Error) => void;
}

/** The length of the longest line, in characters (a character has at least one byte). No message is longer. */
const maxLine = 32 * 1024 * 1024;
const endGraceMs = 1_500;
/** How long an agent may take to exit after its input has ended. */
const goodbyeMs = 200;
/** How long to continue reading after the exit, because the last output may still be in the pipe. */
const lastLinesMs = 250;
/**
 * The most bytes of input that the agent may leave unread; only an agent that has stopped reading reaches the limit.
 */
const maxUnreadBytes = 64 * 1024 * 1024;
/** How much error output is kept to explain the process's end, in characters. */
const maxErrorOutput = 2_000;

/** A running agent program and all its descendants. */
export class AgentProcess {
  readonly #mark: ProcessMark;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exited = Promise.withResolvers<Error>();
  readonly #errorsEnded = Promise.withResolvers<void>();
  /** Decodes the output; much faster than the decoder of a stream with an encoding. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #lines = new LineSplitter();
  #errorOutput = '';
  /** Resolves when the lines that were read last have been handled. */
  #handling: Promise<void> | undefined;
  #isGone = false;

  constructor({ cliType, command, args, env, inherited, cwd }: ProcessCommand) {
    this.#mark = processMark(cliType);
    const environment = childEnvironment(inherited, env, this.#mark.env);
    // If the program is not found, `spawn` gets the bare name, and fails with the reason.
    const program = findProgram(command, environment['PATH']) ?? command;
    this.#child = spawn(program, [...args], {
      cwd,
      env: environment,
      // Start a process group: it can be ended as a whole, even on systems without a process table.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.on('error', (error) => this.#exited.resolve(spawnProblem(error, command)));
    this.#child.on('exit', (code, signal) => this.#exited.resolve(exitReason(code, signal)));
    // Writing to a dead agent fails; its end is reported elsewhere.
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => this.note(text));
    this.#child.stderr.on('error', () => {});
    this.#child.stderr.on('close', this.#errorsEnded.resolve);
  }

  /** Starts reading the output; before this call the output waits in the pipe. */
  async listen(events: AgentProcessEvents): Promise<void> {
    const reading = this.#read(events.onLine);
    const reason = await Promise.race([this.#exited.promise, reading]);
    // Read the last output, but with a limit: a descendant may hold the pipes open indefinitely.
    await Promise.race([Promise.all([reading, this.#errorsEnded.promise]), delay(lastLinesMs)]);
    await this.#handling?.catch(() => undefined);
    this.#isGone = true;
    events.onGone(reason);
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  write(line: string): void {
    if (this.#isGone || !this.#child.stdin.writable) return;
    this.#child.stdin.write(`${line}\n`);
    if (this.#child.stdin.writableLength > maxUnreadBytes) {
      this.#exited.resolve(
        new ProtocolBreach('The agent sends requests and does not read the answers.'),
      );
    }
  }

  /** Stores output that is not part of the protocol, in order to explain the process's end. */
  note(text: string): void {
    this.#errorOutput = tailOf(this.#errorOutput + text, maxErrorOutput);
  }

  /** Drops the error output so far, because the earlier output does not explain later failures. */
  forgetOutput(): void {
    this.#errorOutput = '';
  }

  /** Returns the reason why the process ended, followed by the process's error output. */
  explain(reason: unknown): string {
    const text = thrownMessage(reason);
    const output = this.#errorOutput.trim();
    return output === '' ? text : `${text} It said: ${output}`;
  }

  /**
   * Ends the process and all its descendants. `isWarned` skips the grace period: the agent's protocol has already
   * announced the end.
   */
  async end(isWarned: boolean): Promise<void> {
    this.#child.stdin.end();
    if (!isWarned) await Promise.race([this.#exited.promise, delay(goodbyeMs)]);
    await endTree({ mark: this.#mark.id, child: this.#child }, { graceMs: endGraceMs });
  }

  /** Reads until the output ends, and resolves with the reason for the end. */
  async #read(onLine: AgentProcessEvents['onLine']): Promise<Error> {
    const { stdout } = this.#child;
    const ended = Promise.withResolvers<void>();
    stdout.on('end', ended.resolve).on('close', ended.resolve).on('error', ended.reject);
    // An iterator would be simpler, but costs a tenth of the throughput.
    stdout.on('data', (chunk: Buffer) => {
      if (this.#isGone) return;
      try {
        const handled = handle(this.#split(chunk), onLine);
        if (handled === undefined) return;
        stdout.pause();
        this.#handling = handled;
        handled.then(() => stdout.resume(), ended.reject);
      } catch (error) {
        ended.reject(error);
      }
    });
    try {
      await ended.promise;
    } catch (error) {
      return asError(error);
    }
    this.note(this.#lines.rest);
    // Prefer the exit code as the reason: the end of the output explains less.
    const exit = await Promise.race([this.#exited.promise, delay(lastLinesMs)]);
    return exit ?? new Error('The process closed its output.');
  }

  /** Returns the lines that `chunk` completes. Throws ProtocolBreach for a line that is too long. */
  #split(chunk: Buffer): string[] {
    const lines = this.#lines.push(this.#decoder.decode(chunk, { stream: true }));
    if (this.#lines.rest.length <= maxLine) return lines;
    throw new ProtocolBreach('The agent wrote a line of more than 32 MiB.');
  }
}

type OnLine = AgentProcessEvents['onLine'];

/** Returns a promise only if the caller has to wait, because most lines are handled at once. */
function handle(lines: readonly string[], onLine: OnLine): void | Promise<void> {
  for (const [at, line] of lines.entries()) {
    const handled = onLine(line);
    if (handled !== undefined) return handled.then(() => handle(lines.slice(at + 1), onLine));
  }
}

function spawnProblem(error: Error, command: string): Error {
  const isMissing = 'code' in error && error.code === 'ENOENT';
  return isMissing ? new Error(`There is no program “${command}”.`, { cause: error }) : error;
}

function exitReason(code: number | null, signal: NodeJS.Signals | null): Error {
  return new Error(
    signal === null
      ? `The process exited with code ${code}.`
      : `The process was ended by ${signal}.`,
  );
}
