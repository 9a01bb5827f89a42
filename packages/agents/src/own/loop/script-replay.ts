import { cutText } from '@liminal/protocol';
import type { ScriptError } from '../scripts/index.ts';
import type { RecordedCall } from './waiting-calls.ts';

interface MadeCall {
  name: string;
  /** As JSON. */
  arguments: string;
}

/** The most characters of an input that an error message shows. */
const shownInput = 200;

/**
 * Repeats a script that was cut off, up to the point at which it was cut off. The script's calls get their recorded
 * outputs one after another, in the order in which the calls ended. Each output is given only after the script has
 * handled the earlier outputs completely, so the script makes the same calls again. Calls without a recorded output
 * begin after all recorded outputs were given.
 */
export class ScriptReplay {
  readonly #record: readonly RecordedCall[];
  /** The indexes of the calls that have a recorded output, in the order in which the calls ended. */
  readonly #ended: number[];
  readonly #made = new Set<number>();
  readonly #held = new Map<number, PromiseWithResolvers<void>>();
  readonly #onDeparture: (error: ScriptError) => void;
  #state: 'runs again' | 'goes on' | 'departed';

  /**
   * @param onDeparture - Called if the script does something else than in its earlier run; the script must then be
   *   stopped.
   */
  constructor(record: readonly RecordedCall[], onDeparture: (error: ScriptError) => void) {
    this.#record = record;
    this.#onDeparture = onDeparture;
    this.#state = record.length === 0 ? 'goes on' : 'runs again';
    const ended = record.flatMap(({ output }, at) => (output ? { at, ...output } : []));
    this.#ended = ended
      .toSorted((one, other) => compare(one.endedAt, other.endedAt))
      .map(({ at }) => at + 1);
  }

  /**
   * Returns the index of a call that the script makes: the index of the equal call in the record. The order of the
   * calls may differ from the record, because the record does not have the order of calls that ended in the same
   * millisecond.
   */
  place(call: MadeCall): number {
    const same = this.#record.findIndex(
      ({ item }, at) => !this.#made.has(at + 1) && isSameCall(item, call),
    );
    const place = same === -1 ? this.#made.size + 1 : same + 1;
    const missing = this.#missing;
    this.#made.add(place);
    if (same === -1 && missing !== undefined) {
      this.#depart(`it calls ${callText(call)} in place of ${callText(missing)}`);
    }
    return place;
  }

  /**
   * Resolves when the call may continue, with the recorded call if there is one; rejects if the signal aborts first.
   */
  async turnOf(place: number, signal: AbortSignal): Promise<RecordedCall | undefined> {
    const before = this.#record[place - 1];
    if (this.#state === 'goes on') return before;
    const turn = Promise.withResolvers<void>();
    this.#held.set(place, turn);
    const end = (): void => turn.reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    await turn.promise;
    return before;
  }

  /** Called when the script has handled all answers so far and is waiting. */
  waits(): void {
    if (this.#state !== 'runs again') return;
    const missing = this.#missing;
    const [next] = this.#ended;
    if (missing !== undefined && (next === undefined || !this.#made.has(next))) {
      return this.#depart(`it does not call ${callText(missing)}`);
    }
    this.#ended.shift();
    if (next !== undefined) return this.#held.get(next)?.resolve();
    this.#state = 'goes on';
    for (const { resolve } of this.#held.values()) resolve();
  }

  /** Called when the script has ended. */
  ends(): void {
    if (this.#state === 'runs again') this.#depart('it ended earlier');
  }

  /** The first recorded call that the script has not repeated yet. */
  get #missing(): MadeCall | undefined {
    return this.#record.find((_, at) => !this.#made.has(at + 1))?.item;
  }

  #depart(how: string): void {
    if (this.#state === 'departed') return;
    this.#state = 'departed';
    const message = `The script was run again from its beginning, because the server had stopped, but did not do the same as before: ${how}. It was stopped. No call was made twice; calls made before have had their effect.`;
    this.#onDeparture({ code: 'SCRIPT_DEPARTED', message });
  }
}

const isSameCall = (one: MadeCall, other: MadeCall): boolean =>
  one.name === other.name && one.arguments === other.arguments;

const callText = ({ name, arguments: input }: MadeCall): string =>
  `${name}(${input.length > shownInput ? cutText(input, shownInput) : input})`;

const compare = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0);
