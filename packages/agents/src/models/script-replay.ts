import { cutText } from '@liminal/protocol';
import type { ScriptError } from '../scripts/index.ts';
import type { RecordedCall } from './waiting-calls.ts';

interface MadeCall {
  name: string;
  /** As JSON. */
  arguments: string;
}

/** Of each input, how much an error shows (characters). */
const shownInput = 200;

/**
 * A script that is run again up to where it was cut off, if it was. Its calls get what they got before, one after another, in
 * the order in which they ended: each answer only after the script has done all that it does with those before, so it makes
 * the same calls again. Then all others begin.
 */
export class ScriptReplay {
  readonly #record: readonly RecordedCall[];
  /** Places of the calls that had ended, the first that ended first. */
  readonly #ended: number[];
  readonly #made = new Set<number>();
  readonly #held = new Map<number, PromiseWithResolvers<void>>();
  readonly #onDeparture: (error: ScriptError) => void;
  #state: 'runs again' | 'goes on' | 'departed';

  /** @param onDeparture - Called if the script does something else than before: it must be stopped. */
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
   * The script makes a call; gives its place, which is that of the same call before. It may make them in another order, as
   * nobody knows which of two ended first in the same millisecond.
   */
  place(call: MadeCall): number {
    const same = this.#record.findIndex(
      ({ item }, at) => !this.#made.has(at + 1) && isSame(item, call),
    );
    const place = same === -1 ? this.#made.size + 1 : same + 1;
    const missing = this.#missing;
    this.#made.add(place);
    if (same === -1 && missing !== undefined) {
      this.#depart(`it calls ${shown(call)} in place of ${shown(missing)}`);
    }
    return place;
  }

  /** Resolves when the call goes on, with what is known of it from before; rejects when the script ends first. */
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

  /** The script has had all answers so far, and waits. */
  waits(): void {
    if (this.#state !== 'runs again') return;
    const missing = this.#missing;
    const [next] = this.#ended;
    if (missing !== undefined && (next === undefined || !this.#made.has(next))) {
      return this.#depart(`it does not call ${shown(missing)}`);
    }
    this.#ended.shift();
    if (next !== undefined) return this.#held.get(next)?.resolve();
    this.#state = 'goes on';
    for (const { resolve } of this.#held.values()) resolve();
  }

  /** The script has a result. */
  ends(): void {
    if (this.#state === 'runs again') this.#depart('it ended earlier');
  }

  /** What it had called, and has not yet. */
  get #missing(): MadeCall | undefined {
    return this.#record.find((_, at) => !this.#made.has(at + 1))?.item;
  }

  #depart(how: string): void {
    if (this.#state === 'departed') return;
    this.#state = 'departed';
    const message = `The script was run again from its beginning, as the server had ended, and does not do the same as before: ${how}. It was stopped. No call was made twice, and what was done before is done.`;
    this.#onDeparture({ code: 'SCRIPT_DEPARTED', message });
  }
}

const isSame = (one: MadeCall, other: MadeCall): boolean =>
  one.name === other.name && one.arguments === other.arguments;

const shown = ({ name, arguments: input }: MadeCall): string =>
  `${name}(${input.length > shownInput ? cutText(input, shownInput) : input})`;

const compare = (one = '', other = ''): number => (one < other ? -1 : one > other ? 1 : 0);
