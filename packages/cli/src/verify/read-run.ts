import { setTimeout as delay } from 'node:timers/promises';
import type { Requests } from '@liminal/client';
import { hideUrlSecrets, messageOf } from '@liminal/protocol';
import type { Report } from './report.ts';
import type { RunCheck } from './run-check.ts';
import type { RunLog } from './run-log.ts';

/** How often the server is asked whether the run has ended, ms. */
const ASK_MS = 1_000;
/** How long the end may take from there into the log, as a reader sees it, ms. */
const GRACE_MS = 3_000;

interface Options {
  requests: Requests;
  runId: string;
  /** Sends the prompt. The log is read from before that. */
  send: () => Promise<unknown>;
  /** What the agent waits for, in sentences; undefined while it works. */
  waitsFor: () => string | undefined;
  report: Report;
  limitMs: number;
  stop: AbortSignal;
}

/**
 * Sends a prompt and reads its run to the end. Gives a sentence about what kept it from the end, if something did;
 * throws what `send` throws.
 */
export async function readRun(
  log: RunLog,
  run: RunCheck,
  { requests, runId, send, waitsFor, report, limitMs, stop }: Options,
): Promise<string | undefined> {
  const done = new AbortController();
  const hasEnded = new AbortController();
  const late = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([done.signal, hasEnded.signal, late, stop]);
  const opened = log.open(signal);
  const reading = readAll(opened, run, report);
  void watchServer(requests, runId, hasEnded, signal);
  try {
    // What is in its way is told by the reading.
    await opened.catch(() => undefined);
    await send();
    const trouble = await reading;
    if (run.isOver) return undefined;
    stop.throwIfAborted();
    if (run.question !== undefined) {
      return `The agent asked for a permission, which nobody gives in a check: “${run.question}”. Choose a --prompt that needs no tools.`;
    }
    const read = `${run.count === 0 ? 'nothing' : `${run.count} events`} of it by ${log.how}`;
    if (trouble !== undefined) return `The run could not be read, ${read}: ${trouble}`;
    if (late.aborted) {
      const activity = waitsFor();
      const why = activity ? `The agent waits: ${activity}` : 'Look at the agent.';
      return `The run had no end within ${limitMs / 1_000} s, and ${read}. ${why} To give it longer, use --timeout.`;
    }
    const who = hasEnded.signal.aborted
      ? 'The server says that the run has ended'
      : 'The stream ended';
    return `${who}, and there was ${read}, without its end. ${log.advice}`;
  } finally {
    done.abort();
    await reading;
  }
}

/** Gives what broke the reading off. */
async function readAll(
  opened: ReturnType<RunLog['open']>,
  run: RunCheck,
  report: Report,
): Promise<string | undefined> {
  try {
    for await (const page of await opened) {
      for (const entry of page) {
        if (entry.kind === 'event') report.event(entry.value);
        run.take(entry);
      }
      if (run.isOver || run.question !== undefined) return undefined;
    }
    return undefined;
  } catch (error) {
    return hideUrlSecrets(messageOf(error));
  }
}

/** Tells when the server has the run as ended: then the log must have its end, too. */
async function watchServer(
  requests: Requests,
  runId: string,
  hasEnded: AbortController,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!(await isOver(requests, runId))) await delay(ASK_MS, undefined, { signal });
    await delay(GRACE_MS, undefined, { signal });
    hasEnded.abort();
  } catch {
    // The reading is over.
  }
}

async function isOver(requests: Requests, runId: string): Promise<boolean> {
  try {
    const { status } = await requests.getRun(runId);
    return status !== 'queued' && status !== 'in_progress';
  } catch {
    // It has not begun, or the server is away for a moment.
    return false;
  }
}
