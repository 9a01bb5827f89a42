import { setTimeout as delay } from 'node:timers/promises';
import type { Requests } from '@liminal/client';
import { hideUrlSecrets, thrownMessage } from '@liminal/protocol';
import type { Report } from './report.ts';
import type { RunCheck } from './run-check.ts';
import type { RunLog } from './run-log.ts';

/** How often the server is asked whether the run has ended, in ms. */
const askMs = 1_000;
/** How long a reader of the log may take to receive the end of a run, in ms. */
const graceMs = 3_000;

interface ReadRunOptions {
  requests: Requests;
  runId: string;
  /** Sends the prompt. Called as soon as the log is being read. */
  send: () => Promise<unknown>;
  /** Returns the reasons why the agent is silent, as sentences; undefined while the agent works. */
  waitsFor: () => string | undefined;
  report: Report;
  limitMs: number;
  stop: AbortSignal;
}

/**
 * Sends a prompt and reads its run to the end. Returns undefined if the run was read to the end; otherwise a sentence
 * that says why this failed. Throws the errors of `send`.
 */
export async function readRun(
  log: RunLog,
  run: RunCheck,
  { requests, runId, send, waitsFor, report, limitMs, stop }: ReadRunOptions,
): Promise<string | undefined> {
  const done = new AbortController();
  const hasEnded = new AbortController();
  const late = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([done.signal, hasEnded.signal, late, stop]);
  const opened = log.open(signal);
  const reading = readAll(opened, run, report);
  void watchServer(requests, runId, hasEnded, signal);
  try {
    // If opening fails, `reading` reports why.
    await opened.catch(() => undefined);
    await send();
    const trouble = await reading;
    if (run.isOver) return undefined;
    stop.throwIfAborted();
    if (run.question !== undefined) {
      return `The agent asked for a permission, which a check cannot give: “${run.question}”. Choose a --prompt that needs no tools.`;
    }
    const read = `${run.count === 0 ? 'no events' : `${run.count} events`} read by ${log.how}`;
    if (trouble !== undefined) return `The run could not be read (${read}): ${trouble}`;
    if (late.aborted) {
      const activity = waitsFor();
      const why = activity ? `The agent waits: ${activity}` : 'Check the agent.';
      return `The run did not end within ${limitMs / 1_000} s (${read}). ${why} Use --timeout to wait longer.`;
    }
    const who = hasEnded.signal.aborted
      ? 'The server says that the run has ended'
      : 'The stream ended';
    return `${who}, but its end was not received (${read}). ${log.advice}`;
  } finally {
    done.abort();
    await reading;
  }
}

/** Resolves with the error that stopped the reading, if any. */
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
    return hideUrlSecrets(thrownMessage(error));
  }
}

/**
 * Aborts `hasEnded` when `graceMs` have passed since the server reported the end of the run. By that time, the log must
 * also contain the end.
 */
async function watchServer(
  requests: Requests,
  runId: string,
  hasEnded: AbortController,
  signal: AbortSignal,
): Promise<void> {
  try {
    while (!(await hasRunEnded(requests, runId))) await delay(askMs, undefined, { signal });
    await delay(graceMs, undefined, { signal });
    hasEnded.abort();
  } catch {
    // This happens when the reading has ended.
  }
}

async function hasRunEnded(requests: Requests, runId: string): Promise<boolean> {
  try {
    const { status } = await requests.getRun(runId);
    return status !== 'queued' && status !== 'in_progress';
  } catch {
    // Ignore the error: the run may not have begun, or the server may be unreachable for a short time.
    return false;
  }
}
