import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { endTree, processMark } from '../process/index.ts';

export interface Command {
  command: string;
  cwd: string;
  /** In ms. */
  timeout: number;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  onOutput: (text: string) => void;
}

export interface CommandEnd {
  exitCode: number | null;
  /** The signal that ended the command; null if the command ended by itself. */
  signal: string | null;
  /** The reason why Liminal ended the command; absent if the command ended by itself. */
  cause?: 'timeout' | 'stopped' | 'flood';
}

/**
 * The most bytes that a command may print; a command that prints more is ended, because reading its output would delay
 * all other work.
 */
export const maxPrinted = 64 * 1024 * 1024;

/** The time between SIGTERM and SIGKILL for the remaining processes, in ms. */
const graceMs = 500;
/** The time for reading the remaining output after the command's end, in ms: another process may keep the pipe open. */
const lastOutputMs = 500;

/**
 * Runs a shell command until it ends. When the promise resolves, all processes that the command started have ended,
 * also processes in the background and detached processes (invariant 8).
 */
export async function runCommand(options: Command): Promise<CommandEnd> {
  const { cwd, timeout, env, signal, command } = options;
  const mark = processMark('tools');
  const shell = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';
  // Errors and output share one pipe, so that both arrive in the order in which the command printed them.
  const child = spawn('/bin/sh', ['-c', 'exec "$0" -c "$1" 2>&1', shell, command], {
    cwd,
    env: { ...env, ...mark.env },
    // Even without a process table, a process group can be ended as a whole. Without a terminal, the command cannot
    // wait for input from people.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = exitOf(child);
  const flood = Promise.withResolvers<'flood'>();
  const closed = pass(child.stdout, options.onOutput, () => flood.resolve('flood'));
  const timer = new AbortController();
  try {
    const cause = await Promise.race([
      exited.then(() => undefined),
      delay(timeout, 'timeout' as const, { signal: timer.signal }),
      aborted(AbortSignal.any([signal, timer.signal])),
      flood.promise,
    ]);
    await endTree({ mark: mark.id, child }, { graceMs });
    await Promise.race([closed, delay(lastOutputMs, undefined, { signal: timer.signal })]);
    return { ...(await exited), ...(cause !== undefined && { cause }) };
  } finally {
    timer.abort();
    child.stdout.destroy();
  }
}

/** Rejects if the command could not be started. */
function exitOf(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(
        new Error('The command could not be started: is the project folder there?', { cause }),
      );
    });
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}

function aborted(signal: AbortSignal): Promise<'stopped'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
}

/** Passes the output on; resolves when no process holds the pipe open. */
function pass(
  output: Readable,
  onOutput: (text: string) => void,
  onFlood: () => void,
): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let printed = 0;
  output.on('data', (chunk: Buffer) => {
    printed += chunk.length;
    if (printed > maxPrinted) {
      output.pause();
      onFlood();
      return;
    }
    onOutput(decoder.write(chunk));
  });
  output.on('error', () => {});
  return new Promise((resolve) => {
    output.once('close', () => {
      const rest = decoder.end();
      if (rest !== '') onOutput(rest);
      resolve();
    });
  });
}
