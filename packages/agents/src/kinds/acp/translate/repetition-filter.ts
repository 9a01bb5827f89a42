import type { AcpCalls } from './calls.ts';
import { isRecord } from './fields.ts';
import type { Source } from './tool-call.ts';

type HeldUpdate = [update: unknown, source: Source];

/** How many empty updates of a call wait; if there are more, they are the agent's normal style, and are read. */
const maxWaiting = 100;

/**
 * Holds back repetitions: some agents announce a failed call again, under its id, with nothing new. Such an
 * announcement waits until something happens to the call. If the call only fails again, it is shown once.
 */
export class RepetitionFilter {
  readonly #calls: AcpCalls;
  readonly #waiting = new Map<string, HeldUpdate[]>();

  constructor(calls: AcpCalls) {
    this.#calls = calls;
  }

  /** Returns the updates to read now, in this order, and the `spare` updates, which are only kept. */
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

  /** Called at the turn's end: returns the updates that still wait. */
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
