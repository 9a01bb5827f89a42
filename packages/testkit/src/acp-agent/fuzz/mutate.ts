/** Breaks lines of the protocol, in ways that were seen with real agents and pipes and in other ways. */
import { below, pick, type Random } from './random.ts';

/** Converts a valid line to a broken line, or to several lines if the line is repeated or split. */
type Mutation = (line: string, random: Random) => string[];

type Json = Record<string, unknown>;

/** A position in a JSON value: the object or array that contains it, and its key there. */
type JsonPlace = [holder: Json, key: string];

/** Makes a mutation that changes the message. The result is still JSON. */
const mutateMessage =
  (change: (message: Json, random: Random) => unknown): Mutation =>
  (line, random) => {
    const message: Json = JSON.parse(line);
    return [JSON.stringify(change(message, random) ?? message)];
  };

/** Makes a mutation that changes one position in the message. */
const somewhere = (change: (place: JsonPlace, random: Random) => void): Mutation =>
  mutateMessage((message, random) => change(pick(places(message), random), random));

const wrongValues = [null, true, false, 0, -1, 1e308, 0.5, '', 'x', [], {}, [[null]], { a: 1 }];
const oddStrings = [
  'a\u0000b',
  '\ud800',
  'half \udc00 pair',
  '\u202egnorw',
  '\u2028\u2029',
  'e\u0301'.repeat(200),
  '\u001b[31mred',
  '../../../../etc/passwd',
  '<script>alert(1)</script>',
  '\uffff\ufffe',
];
const oddIds = [
  null,
  '',
  '0',
  0,
  1,
  2,
  3,
  -1,
  1.5,
  2 ** 53,
  'no-such-id',
  [],
  {},
  true,
  1000,
  1001,
];
const variants = ['sessionUpdate', 'type', 'kind', 'status', 'method', 'mode', 'severity'];
const noise = [
  '',
  '   ',
  'Listening on port 3000',
  '\u001b[33mwarning\u001b[0m: deprecated',
  'Content-Length: 20\r',
  '{',
  '}',
  'null',
  '42',
  '"text"',
  '[]',
  '[null]',
  '{}',
  'undefined',
  '{"jsonrpc":"2.0"}',
];

/** All mutations, by name. */
export const mutations = {
  missingField: somewhere(([holder, key]) => void delete holder[key]),
  wrongType: somewhere(([holder, key], random) => {
    holder[key] = pick(wrongValues, random);
  }),
  renamedField: somewhere(([holder, key]) => {
    holder[`${key}_`] = holder[key];
    delete holder[key];
  }),
  unknownField: somewhere(([holder], random) => {
    holder[pick(['_meta', 'later', 'constructor', 'toString', ''], random)] = pick(
      wrongValues,
      random,
    );
  }),
  unknownVariant: mutateMessage((message, random) => {
    const found = places(message).filter(([, key]) => variants.includes(key));
    const [holder, key] = pick(found.length > 0 ? found : places(message), random);
    holder[key] = 'no_such_variant';
  }),
  oddString: somewhere(([holder, key], random) => {
    holder[key] = pick(oddStrings, random);
  }),
  hugeString: somewhere(([holder, key], random) => {
    holder[key] = 'huge '.repeat(below(30_000, random));
  }),
  deepNesting: (line, random) => {
    const depth = 100 + below(3000, random);
    const deep = pick([arrays, objects], random)(depth);
    const [holed = line] = somewhere(([holder, key]) => {
      holder[key] = hole;
    })(line, random);
    return [holed.replace(JSON.stringify(hole), () => deep)];
  },
  wrongId: mutateMessage((message, random) => void (message['id'] = pick(oddIds, random))),
  wrongSession: mutateMessage((message, random) => {
    const sessionId = pick(['', 'no-such-session', null, 7, {}], random);
    message['params'] = { ...asObject(message['params']), sessionId };
  }),
  requestForNotification: mutateMessage((message, random) => {
    if ('id' in message) delete message['id'];
    else message['id'] = pick(oddIds, random);
  }),
  unaskedAnswer: mutateMessage((message, random) => {
    const id = pick(oddIds, random);
    const answer = pick(
      [
        { result: {} },
        { result: null },
        { result: { stopReason: 'no_such_reason' } },
        { error: {} },
        { error: 'failed' },
        { error: { code: 'E', message: {} } },
        { result: {}, error: { code: 1, message: 'both' } },
      ],
      random,
    );
    return { jsonrpc: '2.0', id, ...answer };
  }),
  otherVersion: mutateMessage((message, random) => {
    message['jsonrpc'] = pick(['1.0', 2, '', null], random);
  }),
  repeatedKey: (line) => [`{"jsonrpc":"1.0","params":null,"params":7,${line.slice(1)}`],
  prototype: (line) => [`{"__proto__":{"method":"x","polluted":true},${line.slice(1)}`],
  truncated: (line, random) => [line.slice(0, below(line.length, random))],
  cutInTwo: (line, random) => {
    const at = below(line.length, random);
    return [line.slice(0, at), line.slice(at)];
  },
  repeated: (line) => [line, line],
  twoInOne: (line) => [line + line],
  batch: (line, random) => [`[${Array.from({ length: below(4, random) }, () => line).join(',')}]`],
  pretty: (line) => {
    const [first = '', second = '', ...others] = JSON.stringify(
      JSON.parse(line),
      undefined,
      1,
    ).split('\n');
    return [first, second, others.join(' ')];
  },
  otherCharacter: (line, random) => {
    const at = below(line.length, random);
    const character = String.fromCodePoint(32 + below(95, random));
    return [line.slice(0, at) + character + line.slice(at + 1)];
  },
  framed: (line, random) => [
    pick([`\ufeff${line}`, `\0${line}`, `${line}\r`, `${line} x`], random),
  ],
  noise: (_line, random) => [pick(noise, random)],
} satisfies Record<string, Mutation>;

const all: readonly Mutation[] = Object.values(mutations);

/** Breaks a valid line with one mutation. The result may be several lines. */
export const mutate: Mutation = (line, random) => pick(all, random)(line, random);

const hole = 'to be filled';
const arrays = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** Returns every position in a JSON object, at any depth. */
function places(value: unknown): JsonPlace[] {
  const holder = asObject(value);
  return Object.keys(holder).flatMap((key): JsonPlace[] => [[holder, key], ...places(holder[key])]);
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {};
