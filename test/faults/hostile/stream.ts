/** Generates hostile streams: the real messages of a program, with mutations. */
import fc from 'fast-check';
import { hostileValue, type HostileValue, jsonOf, oddNames, oddNumbers, textOf } from './value.ts';

/** Scripts of messages, in the order in which such a program sends them. Each script is one conversation. */
export type Scripts = readonly (readonly object[])[];

/** A mutation of one message. `at` and `place` are taken modulo the number of messages and of places. */
export type Harm =
  /** Replaces the value in one place with a value of any type, or, with `alike`, with a value of the same type. */
  | { do: 'replace' | 'alike'; at: number; place: number; with: HostileValue }
  /** Removes a field, or adds a field. */
  | { do: 'remove'; at: number; place: number }
  | { do: 'add'; at: number; place: number; name: string; with: HostileValue }
  /** Replaces ids: with odd ids, or with one id for many messages. */
  | { do: 'rename'; at: number; id: string | number | null }
  /** Replaces the message with a message of another kind. */
  | { do: 'change kind'; at: number }
  | { do: 'leave out'; at: number }
  /** Sends the message later or earlier, for example before its item has begun, or after it has ended. */
  | { do: 'move'; at: number; to: number }
  /** Sends the message this many more times: about the same items, or, with `anew`, about new items. */
  | { do: 'repeat'; at: number; times: number; anew: boolean }
  /** Another value instead. */
  | { do: 'say'; at: number; with: HostileValue };

/** A mutation that changes the message itself. */
type Spoil = Exclude<Harm, { do: 'leave out' | 'move' | 'repeat' | 'say' }>;

/** A recipe for a stream. It is small enough to be printed in a failure. */
export interface HostileStream {
  script: number;
  /** How many messages of the script are sent. */
  length: number;
  harms: Harm[];
}

const at = fc.nat({ max: 999 });
const value = { with: hostileValue };
const times = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 1, arbitrary: fc.integer({ min: 21, max: 2_500 }) },
);
const id = fc.constantFrom(...oddNames, 'x'.repeat(100), 'x'.repeat(100_000), 7, 0, null);

const harm: fc.Arbitrary<Harm> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('replace'), at, place: at, ...value }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('alike'), at, place: at, ...value }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove'), at, place: at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('add'),
      at,
      place: at,
      name: fc.constantFrom(...oddNames),
      ...value,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename'), at, id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change kind'), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave out'), at }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move'), at, to: at }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('repeat'), at, times, anew: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('say'), at, ...value }) },
);

/** Generates mutations: mostly none, otherwise up to three. */
export const fewHarms: fc.Arbitrary<Harm[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Harm[]>([]) },
  { weight: 1, arbitrary: fc.array(harm, { minLength: 1, maxLength: 3 }) },
);

/** The only generator of hostile input. `linesOf` turns its recipes into messages. */
export const hostileStream: fc.Arbitrary<HostileStream> = fc.record({
  script: fc.nat({ max: 999 }),
  length: fc.integer({ min: 1, max: 60 }),
  harms: fc.array(harm, { minLength: 1, maxLength: 8 }),
});

/** The maximum number of messages in a stream, and the approximate maximum number of characters. */
const maxMessages = 3_000;
const maxSize = 12 * 1024 * 1024;

/** Returns the stream as lines of JSON. */
export function linesOf({ script, length, harms }: HostileStream, scripts: Scripts): string[] {
  const spoken = scripts[script % scripts.length] ?? [];
  const maker = new StreamBuilder(spoken.slice(0, length));
  for (const one of harms) maker.harm(one);
  return maker.lines();
}

interface Holder {
  [key: string]: unknown;
}

/** A place in a message: the object or array that contains it, and its key. */
type JsonPlace = [holder: Holder, key: string];

class StreamBuilder {
  readonly #messages: { content: unknown; times: number; anew: boolean }[];
  /** JSON of hostile values. The key is the placeholder in the message that the JSON replaces. */
  readonly #holes = new Map<string, string>();

  constructor(script: readonly object[]) {
    this.#messages = script.map((content) => ({ content, times: 1, anew: false }));
  }

  harm(harm: Harm): void {
    const { length } = this.#messages;
    const index = length === 0 ? 0 : harm.at % length;
    if (harm.do === 'say') {
      this.#messages.splice(index, 0, { content: this.#hole(harm.with), times: 1, anew: false });
      return;
    }
    const message = this.#messages[index];
    if (message === undefined) return;
    if (harm.do === 'leave out') this.#messages.splice(index, 1);
    else if (harm.do === 'move') {
      this.#messages.splice(index, 1);
      this.#messages.splice(harm.to % length, 0, message);
    } else if (harm.do === 'repeat') {
      this.#messages[index] = { ...message, times: harm.times + 1, anew: harm.anew };
    } else {
      const said = structuredClone(message.content);
      this.#spoil(said, harm);
      this.#messages[index] = { ...message, content: said };
    }
  }

  lines(): string[] {
    const lines: string[] = [];
    let room = maxSize;
    for (const { content, times: count, anew } of this.#messages) {
      const line = this.#line(content);
      for (let time = 0; time < count && lines.length < maxMessages; time += 1) {
        room -= line.length;
        if (room < 0) break;
        lines.push(
          anew && time > 0 ? this.#line(renamed(content, (name) => `${name}~${time}`)) : line,
        );
      }
    }
    return lines;
  }

  #spoil(said: unknown, harm: Spoil): void {
    const all = places(said);
    const [holder, key] = ('place' in harm && all[harm.place % all.length]) || [{}, ''];
    switch (harm.do) {
      case 'replace':
        holder[key] = this.#hole(harm.with);
        return;
      case 'alike':
        holder[key] = this.#alike(holder[key], harm.with);
        return;
      case 'remove':
        delete holder[key];
        return;
      case 'add':
        if (Array.isArray(holder)) return void holder.push(this.#hole(harm.with));
        // An assignment to `__proto__` would not add a field.
        Object.defineProperty(holder, harm.name, {
          value: this.#hole(harm.with),
          enumerable: true,
          configurable: true,
          writable: true,
        });
        return;
      case 'rename':
        renameIn(said, () => harm.id);
        return;
      case 'change kind':
        for (const [where, name] of all) if (kinds.has(name)) where[name] = 'hologram';
    }
  }

  /** Returns an equally hostile value of the same type. */
  #alike(expected: unknown, harmful: HostileValue): unknown {
    if (typeof expected === 'string') return textOf(harmful);
    if (typeof expected === 'number') {
      return this.#hole({ json: oddNumbers[textOf(harmful).length % oddNumbers.length] ?? '0' });
    }
    if (typeof expected === 'boolean') return !expected;
    if (Array.isArray(expected)) {
      const count = 'times' in harmful ? Math.min(harmful.times, 3_000) : 100;
      return Array.from({ length: count }, (_, n) => expected[n % expected.length] as unknown);
    }
    if (typeof expected !== 'object' || expected === null) return this.#hole(harmful);
    return { ...expected, more: this.#hole(harmful) };
  }

  #hole(harmful: HostileValue): string {
    const hole = `hole ${this.#holes.size} in the message`;
    this.#holes.set(JSON.stringify(hole), jsonOf(harmful));
    return hole;
  }

  #line(said: unknown): string {
    const line = JSON.stringify(said);
    return line.replaceAll(/"hole \d+ in the message"/g, (hole) => this.#holes.get(hole) ?? hole);
  }
}

const kinds = new Set(['type', 'sessionUpdate', 'kind', 'status', 'subtype', 'method']);

/** Returns all places in a value, at any depth. */
function places(value: unknown): JsonPlace[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((key): JsonPlace[] => [[holder, key], ...places(holder[key])]);
}

const isId = (name: string): boolean => /id$/i.test(name) && !/^session/i.test(name);

function renameIn(said: unknown, name: (before: string) => unknown): void {
  for (const [holder, key] of places(said)) {
    if (isId(key) && typeof holder[key] === 'string') holder[key] = name(holder[key]);
  }
}

function renamed(said: unknown, name: (before: string) => string): unknown {
  const copy = structuredClone(said);
  renameIn(copy, name);
  return copy;
}
