import type { AcpCalls } from './calls.ts';
import { isRecord } from './fields.ts';
import type { Source } from './tool-call.ts';

type HeldUpdate = [update: unknown, source: Source];

/**
 * How many updates of a call without anything new are held back; an agent that sends more such updates does so for
 * every call, so all of them are read.
 */
const maxWaiting = 100;

/**
 * Some agents announce a failed call again, with the same id and nothing new. This filter holds the new announcement
 * back until a further update changes the call. If the call only fails again, the call is shown once.
 */
export class RepetitionFilter {
  readonly #calls: AcpCalls;
  readonly #waiting = new Map<string, HeldUpdate[]>();

  constructor(calls: AcpCalls) {
    this.#calls = calls;
  }

  /**
   * Returns the updates to read now (`read`), in order, and the repetitions (`spare`). Repetitions are stored but not
   * shown.
   */
  pass(callId: string, update: unknown, source: Source): { read: HeldUpdate[]; spare: unknown[] } {
    const waiting = this.#waiting.get(callId);
    if (waiting === undefined && !this.#isRepeated(callId, update, source)) {
      return { read: [[update, source]], spare: [] };
    }
    const all: HeldUpdate[] = [...(waiting ?? []), [update, source]];
    const waits = waiting === undefined || isNothingNew(update, source);
    if (waits && all.length <= maxWaiting) {
      this.#waiting.set(callId, all);
      return { read: [], spare: [] };
    }
    this.#waiting.delete(callId);
    const hasFailed = statusOf(update) === 'failed';
    return hasFailed ? { read: [], spare: all.map(([one]) => one) } : { read: all, spare: [] };
  }

  /** Called at the turn's end. Returns the updates that are still held back. */
  end(): unknown[] {
    const all = [...this.#waiting.values()].flat().map(([update]) => update);
    this.#waiting.clear();
    return all;
  }

  #isRepeated(callId: string, update: unknown, source: Source): boolean {
    const failed = this.#calls.failed(callId);
    if (failed === undefined || source !== 'announcement' || statusOf(update) === 'completed') {
      return false;
    }
    return failed.isRepeatedBy(update);
  }
}

const statusOf = (update: unknown): unknown => (isRecord(update) ? update['status'] : undefined);

function isNothingNew(update: unknown, source: Source): boolean {
  if (source === 'request' || !isRecord(update)) return false;
  const isSilent = update['content'] == null && update['rawOutput'] == null;
  return isSilent && (source === 'announcement' || update['status'] == null);
}
