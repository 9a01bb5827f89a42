import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blobUri } from '../blobs.ts';
import type { EventPayload, StreamEvent } from '../events.ts';
import { emptyResponse, foldResponse, toResponse } from '../folds/response.ts';
import { eventScripts } from '../testing/event-scripts.ts';
import { call, completed, delta, messageDone, text } from '../testing/payloads.ts';
import { type PlantedSecret, plantedSecrets, secretNames } from '../testing/planted-secrets.ts';
import { runOf } from '../testing/run-of.ts';
import { Redactor } from './redactor.ts';
import { isSecretName, knownSecretRule, secretRules } from './rules.ts';

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };
const shown = ({ secret, around }: PlantedSecret): string => around.replace('¤', () => secret);
const without = ({ rule, around }: PlantedSecret): string =>
  around.replace('¤', () => `[secret: ${rule}]`);

const fold = (events: readonly StreamEvent[]) =>
  toResponse(events.reduce(foldResponse, emptyResponse()))!;

test.each(plantedSecrets)('a secret is removed from a text by $rule: $around', (planted) => {
  const redactor = new Redactor([]);
  expect(redactor.text(shown(planted))).toBe(without(planted));
  expect(redactor.counts).toEqual({ [planted.rule]: 1 });
});

test.each(
  secretNames.flatMap((name) => ['"', "'", '`'].map((quote) => `my${name}: ${quote}hunter2`)),
)('a secret whose closing quote was cut off is removed: %s', (text) => {
  expect(new Redactor([]).text(text)).toBe(text.replace('hunter2', '[secret: assignment]'));
});

test.each([
  ['only the first word', 'password: "correct horse\nand "more"', 'correct'],
  ['no other secret of its line', `password: "x token: 'correct horse'`, 'correct horse'],
])('SAFE: a quote that is not closed in its line hides %s', (_, around, secret) => {
  const redacted = around.replace(secret, '[secret: assignment]');
  expect(new Redactor([]).text(around)).toBe(redacted);
});

test('SAFE: a quote that is not closed hides only the first word after another secret in quotes', () => {
  const redact = (text: string) => new Redactor([]).text(text);
  expect(redact('token: "hunter2"\npassword: "correct horse\nand "more"')).toBe(
    'token: "[secret: assignment]"\npassword: "[secret: assignment] horse\nand "more"',
  );
});

test.each([2, 15, 60_000])(
  'SAFE: if a secret begins %i characters before the end of a part of a large text, only the secret is removed',
  (before) => {
    const blanks = ' '.repeat(256 * 1024 - before);
    expect(new Redactor([]).text(`${blanks}npm_${'a1'.repeat(20)}) and words`)).toBe(
      `${blanks}[secret: npm-token]) and words`,
    );
  },
);

test('SAFE: a secret that is longer than the repetitions of a pattern is removed up to the end of its word', () => {
  const secret = `npm_${'a1'.repeat(60_000)}`;
  const redact = (text: string) => new Redactor([]).text(text);
  expect(redact(`${secret}-more and words`)).toBe('[secret: npm-token] and words');
  expect(redact(`"${secret}", "words"`)).toBe('"[secret: npm-token]", "words"');
  expect(redact(secret)).toBe('[secret: npm-token]');
});

test('nothing is removed from empty quotes or after a secret’s closing quote', () => {
  const redact = (text: string) => new Redactor([]).text(text);
  expect(redact('password: "" or token: ``')).toBe('password: "" or token: ``');
  expect(redact(`password: 'a token: "b' and words"`)).toBe(
    `password: '[secret: assignment]' and words"`,
  );
});

test.each(['Negotiate', 'AWS4-HMAC-SHA256'])(
  'after an authorization scheme that is itself as long as a secret, the value is removed: %s',
  (scheme) => {
    const text = new Redactor([]).text(`Authorization: ${scheme} some hunter2\nAccept: x`);
    expect(text).toMatch(/^Authorization: .*\[secret: header\]\nAccept: x$/);
    expect(text).not.toContain('hunter2');
  },
);

test.each([...secretNames, 'authorization', 'cookie'])(
  'a setting whose name ends in %s is a secret',
  (name) => {
    expect([name, `MY${name.toUpperCase()}`, `${name}_name`].map(isSecretName)).toEqual([
      true,
      true,
      false,
    ]);
  },
);

test('there is a planted secret for every rule', () => {
  const planted = new Set(plantedSecrets.map(({ rule }) => rule));
  expect(secretRules.map(({ id }) => id).filter((id) => !planted.has(id))).toEqual([]);
});

test.each([
  'const token = readToken(file);',
  'The token: abc, and the password is forgotten.',
  'max_tokens=4096 and "tokens": 12',
  'password=$DB_PASSWORD PASSWORD=${SECRET} token: "<your token>"',
  'https://example.org/a?page=2&monkey=banana#top',
  'ssh://git@github.com/a/b.git',
  '.sk-folding-cube-animation-wrapper { }',
  'Bearer authentication and Basic understanding',
  'apiKey: process.env.API_KEY',
  'PWD=/home/ada/work OLDPWD=/home/ada SSH_AUTH_SOCK=/run/agent',
  'PWD: "/home/ada/work"\nOLDPWD: /home/ada',
  'compass: north, bypass=always, "oauth": "google", has_auth: false',
  'SMTP_PASS=$MAIL DB_PWD="${OTHER}"',
])('a text without a secret is unchanged: %s', (harmless) => {
  expect(new Redactor([]).text(harmless)).toBe(harmless);
});

test('the search for a digit ends where another key begins', () => {
  const words = 'sk-a-sk-folding-cube-animation';
  expect(new Redactor([]).text(`${words}-sk-a1b2c3d4e5f6g7h8i9j0`)).toBe(
    `${words}-[secret: openai-key]`,
  );
});

test('known secrets are removed everywhere, even if JSON escapes them; short known secrets are ignored, because they could be words', () => {
  const redactor = new Redactor(['a "quoted" one', 'short']);
  const mark = `[secret: ${knownSecretRule.id}]`;
  expect(redactor.text('xa "quoted" onex short')).toBe(`x${mark}x short`);
  expect(redactor.text(JSON.stringify({ a: 'a "quoted" one' }))).toBe(`{"a":"${mark}"}`);
  const several = new Redactor(['12345678', '1234567', '12345678-and-more']);
  expect(several.text('12345678-and-more 12345678 1234567')).toBe(`${mark} ${mark} 1234567`);
  expect(several.text('1234567812345678')).toBe(`${mark}${mark}`);
});

test('JSON with a secret in any of its values stays JSON', () => {
  for (const planted of plantedSecrets) {
    const json = JSON.stringify({ a: shown(planted), b: JSON.stringify([shown(planted)]) });
    const redacted = new Redactor([]).text(json);
    expect(redacted).not.toContain(planted.secret);
    expect(JSON.parse(redacted)).toEqual({ a: expect.any(String), b: expect.any(String) });
  }
});

/** A text that is cut into pieces at arbitrary positions. */
const cut = (whole: string, places: readonly number[]): string[] => {
  const ends = [...new Set([...places, 0, whole.length])].toSorted((a, b) => a - b);
  return ends.slice(1).map((end, index) => whole.slice(ends[index], end));
};

test('if a secret is split between deltas of an item, no prefix of the run contains it', () => {
  const places = fc.array(fc.nat({ max: 400 }), { maxLength: 8 });
  const one = fc.constantFrom(...plantedSecrets);
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 3 }), places, (several, at) => {
      const whole = several.map(shown).join('\nand\n');
      const pieces = cut(
        whole,
        at.filter((place) => place < whole.length),
      );
      const other = pieces.map((piece) => delta('other', piece.slice(0, 1)));
      const events = runOf([
        start,
        text('m1'),
        text('other', 'reasoning'),
        ...pieces.flatMap((piece, index) => [delta('m1', piece), other[index]!]),
        // The item fails, and keeps its text up to the failure.
        { type: 'item_error', itemId: 'm1', error: { code: 'CUT', message: whole } },
        completed,
      ]);
      const redacted = new Redactor([]).events(events);
      expect(redacted.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
      for (let count = 0; count <= redacted.length; count += 1) {
        const sofar = JSON.stringify(fold(redacted.slice(0, Math.max(1, count))));
        for (const { secret } of several) {
          expect(sofar).not.toContain(JSON.stringify(secret).slice(1, -1));
        }
      }
      expect(fold(redacted)).toEqual(new Redactor([]).response(fold(events)));
    }),
  );
});

test('folding the redacted events of any run gives the redacted Response', () => {
  const known = ['ünï', 'word word word', 'lorem ipsum dolor'];
  fc.assert(
    fc.property(eventScripts(), (events) => {
      const redactor = new Redactor(known);
      expect(fold(redactor.events(events))).toEqual(redactor.response(fold(events)));
    }),
  );
});

test('arguments, outputs, titles, raw data, errors and names of files are redacted, but ids are not', () => {
  const secret = `sk-ant-${'a1'.repeat(20)}`;
  const events = runOf([
    start,
    call(`id-${secret}`, 'Bash', 'c1'),
    delta(`id-${secret}`, '{"command":"echo sk-ant-a1a1a1a1'),
    {
      type: 'item_delta',
      itemId: `id-${secret}`,
      deltaContent: 'a1a1a1a1a1a1a1a1a1a1 x"}',
      patch: { title: secret, raw: { token: 'plain', deep: [{ [secret]: secret }] } },
    },
    { type: 'item_error', itemId: `id-${secret}`, error: { code: 'E', message: secret } },
    completed,
  ]);
  const run = fold(new Redactor([]).events(events));
  expect(run.outputItems).toEqual([
    expect.objectContaining({
      id: `id-${secret}`,
      arguments: '{"command":"echo [secret: anthropic-key] x"}',
      title: '[secret: anthropic-key]',
      raw: {
        token: '[secret: assignment]',
        deep: [{ '[secret: anthropic-key]': '[secret: anthropic-key]' }],
      },
      error: { code: 'E', message: '[secret: anthropic-key]' },
    }),
  ]);
});

test('blocks refer to the blob that replaced the original', () => {
  const [old, hash] = ['a'.repeat(64), 'b'.repeat(64)];
  const done = messageDone('m1', 'Look', 'user');
  if (done.type !== 'item_done' || done.finalItem.type !== 'message') throw new Error('no message');
  done.finalItem.blocks = [
    { type: 'resource', resource: { uri: blobUri(old), size: 9, name: 'a.env' } },
  ];
  const redactor = new Redactor([], new Map([[old, { hash, size: 4 }]]));
  const [, event] = redactor.events(runOf([start, done]));
  expect(event?.payload).toMatchObject({
    finalItem: { blocks: [{ resource: { uri: blobUri(hash), size: 4, name: 'a.env' } }] },
  });
});

const whole = `sk-ant-${'a1'.repeat(20)}`;
const [head, tail] = [whole.slice(0, 12), whole.slice(12)];
const mark = '[secret: anthropic-key]';

test.each<[field: string, begin: EventPayload]>([
  [
    'initialContent',
    { type: 'item_start', itemId: 'i', itemType: 'message', initialContent: `one ${head}` },
  ],
  [
    'initialContent',
    { type: 'item_start', itemId: 'i', itemType: 'function_call', initialContent: `one ${head}` },
  ],
  [
    'arguments',
    { type: 'item_start', itemId: 'i', itemType: 'function_call', arguments: `one ${head}` },
  ],
  ['code', { type: 'item_start', itemId: 'i', itemType: 'script_execution', code: `one ${head}` }],
  [
    'initialContent',
    {
      type: 'item_start',
      itemId: 'i',
      itemType: 'script_execution',
      initialContent: `one ${head}`,
    },
  ],
  [
    'initialContent',
    {
      type: 'item_start',
      itemId: 'i',
      itemType: 'message',
      initialContent: `one ${head}`,
      // Fields of other types.
      arguments: '{}',
      code: 'x',
    },
  ],
  ['code', { type: 'script_execution_start', itemId: 'i', code: `one ${head}` }],
])('a secret that begins in the %s of an item’s start continues in its deltas', (field, begin) => {
  const events = runOf([start, begin, delta('i', tail), delta('i', ' two'), completed]);
  const redacted = new Redactor([]).events(events);
  expect(redacted.map(({ payload }) => payload)).toEqual([
    start,
    { ...begin, [field]: `one ${mark}` },
    delta('i', ''),
    delta('i', ' two'),
    completed,
  ]);
  expect(new Redactor([]).events(redacted)).toEqual(redacted);
});

test('the text of another item is searched separately, and so is the text of the same item after its end or a new start', () => {
  const begin: EventPayload = {
    type: 'item_start',
    itemId: 'i',
    itemType: 'message',
    initialContent: head,
  };
  const again: EventPayload = {
    type: 'item_delta',
    itemId: 'i',
    deltaContent: '',
    patch: { arguments: tail },
  };
  const apart = [
    [delta('i', head), delta('other', tail)],
    [call('i', 'Bash', 'c1'), delta('i', head), again],
    [delta('i', head), messageDone('i', 'Done.'), delta('i', tail)],
    [delta('i', head), { type: 'item_cancelled', itemId: 'i' } as const, delta('i', tail)],
    [delta('i', head), { ...begin, initialContent: tail }],
    [begin, { ...begin, initialContent: tail }],
  ];
  for (const payloads of apart) {
    const events = runOf([start, ...payloads, completed]);
    expect(new Redactor([]).events(events)).toStrictEqual(events);
  }
  // The second start is ignored, and the item's text continues.
  const twice = runOf([start, begin, { ...begin, initialContent: 'x' }, delta('i', tail)]);
  const [, first, second, last] = new Redactor([]).events(twice);
  expect([first, second, last].map((event) => event?.payload)).toEqual([
    { ...begin, initialContent: mark },
    { ...begin, initialContent: 'x' },
    delta('i', ''),
  ]);
});

test('SAFE: a secret continues in deltas after new arguments of a call, although its start is repeated', () => {
  const begin = call('i', 'Bash', 'c1');
  const events = runOf([
    start,
    begin,
    { type: 'item_delta', itemId: 'i', deltaContent: '', patch: { arguments: head } },
    begin,
    delta('i', tail),
    completed,
  ]);
  expect(fold(events).outputItems).toEqual([expect.objectContaining({ arguments: whole })]);
  const redacted = new Redactor([]).events(events);
  expect(fold(redacted).outputItems).toEqual([expect.objectContaining({ arguments: mark })]);
});

test('SAFE: a secret that begins in an item’s start continues in its deltas, although text came before the start', () => {
  const begin: EventPayload = {
    type: 'item_start',
    itemId: 'i',
    itemType: 'message',
    initialContent: head,
  };
  const events = runOf([start, delta('i', 'early '), begin, delta('i', tail), completed]);
  expect(fold(events).outputItems).toEqual([expect.objectContaining({ content: whole })]);
  const redacted = fold(new Redactor([]).events(events));
  expect(redacted.outputItems).toEqual([expect.objectContaining({ content: mark })]);
});

test('a secret may end with a piece, and another may begin with the next piece', () => {
  const aws = 'AKIAQ7DPX2LMZR9TKB4V';
  const events = runOf([start, delta('i', `${head}`), delta('i', `${tail} `), delta('i', aws)]);
  const texts = new Redactor([]).events(events).map(({ payload }) => payload);
  expect(texts).toEqual([
    start,
    delta('i', mark),
    delta('i', ' '),
    delta('i', '[secret: aws-access-key]'),
  ]);
  const joined = runOf([start, delta('i', `/${whole}`), delta('i', `/${aws}`)]);
  expect(new Redactor([]).events(joined).map(({ payload }) => payload)).toEqual([
    start,
    delta('i', `/${mark}`),
    delta('i', '/[secret: aws-access-key]'),
  ]);
});

test('each secret of a run is counted only once, for the rule that found it, although the events repeat the secret', () => {
  const redactor = new Redactor([]);
  const events = runOf([start, messageDone('m', `${whole} npm_${'a1'.repeat(20)}`), completed]);
  redactor.response(fold(events));
  redactor.events(events);
  expect(Object.entries(redactor.counts)).toEqual([
    ['anthropic-key', 1],
    ['npm-token', 1],
  ]);
  redactor.text(`npm_${'a1'.repeat(20)} AKIAQ7DPX2LMZR9TKB4V`);
  redactor.value({ raw: { password: 'hunter2' } });
  expect(Object.entries(redactor.counts)).toEqual([
    ['anthropic-key', 1],
    ['assignment', 1],
    ['aws-access-key', 1],
    ['npm-token', 2],
  ]);
});

test('fields with content of other programs are fully redacted; a value of at least four characters is a secret if its name shows this', () => {
  const value = (given: object) => new Redactor([]).value(given);
  expect(value({ id: whole, deep: { id: whole }, raw: { id: whole }, content: 'words' })).toEqual({
    id: whole,
    deep: { id: whole },
    raw: { id: mark },
    content: 'words',
  });
  // At the top level, the field `content` is the item's own text.
  expect(value({ content: 'words', deep: [{ content: 'more', itemId: whole }] })).toEqual({
    content: 'words',
    deep: [{ content: 'more', itemId: whole }],
  });
  const given = {
    pin: '1234',
    token: 'abc',
    api_key: 12345,
    secret: null,
    uri: 7,
    none: undefined,
  };
  expect(value({ raw: { ...given, password: 'abcd' } })).toEqual({
    raw: { ...given, password: '[secret: assignment]' },
  });
});

const long = 'correct horse battery staple '.repeat(100_000);

test.each([
  ['quotes', 'password = "¤"', '"'],
  ['other quotes', "export DB_PASSWORD='¤'", "'"],
  ['JSON', '{"user": "ada", "password": "¤", "port": 1}', '"'],
  ['JSON within JSON', String.raw`{"env":"{\"MY_TOKEN\":\"¤\",\"a\":1}"}`, String.raw`\"`],
])(
  'SAFE: a secret in %s is removed with all its blanks, however long the secret is',
  (_name, around) => {
    for (const secret of [long, long.slice(0, 4_001), `a ${'\\\\'.repeat(5_000)} b`]) {
      const redacted = new Redactor([]).text(`${around.replace('¤', () => secret)}\nand words`);
      expect(redacted).toBe(`${around.replace('¤', () => '[secret: assignment]')}\nand words`);
    }
  },
);

test('a short text is searched in one step', () => {
  expect([...new Redactor(['12345678']).textInSteps(`token="12345678" ${whole}`)]).toEqual([]);
});

test('secrets of a large run are removed in many steps, with the same result', () => {
  const item = (at: number, content: string) => ({
    ...messageDone(`m${at}`, `${content} ${whole}`),
  });
  const words = 'some words of a key and a token '.repeat(1_000);
  const many = [start, ...Array.from({ length: 400 }, (_, at) => item(at, words)), completed];
  const one = [start, item(0, words.repeat(400)), completed];
  for (const events of [runOf(many), runOf(one)]) {
    const run = fold(events);
    const steps = new Redactor([]).responseInSteps(run);
    let count = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) count += 1;
    // Each step applies one rule to one text, or reads 2 Mi characters.
    expect(count).toBeGreaterThan(secretRules.length);
    expect([...new Redactor([]).eventsInSteps(events)].length).toBeGreaterThan(secretRules.length);
    expect(JSON.stringify(new Redactor([]).response(run))).not.toContain(whole);
  }
});
