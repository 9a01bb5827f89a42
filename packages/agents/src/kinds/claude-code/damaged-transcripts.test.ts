/** Transcripts that were compacted, branched, cut, or have lost entries: all messages are shown, and gaps are named. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { foldTurn } from '../../testing/folding.ts';
import { findStored, listStored, readHistory } from './history.ts';

type Fields = Record<string, unknown>;

async function store(text: string): Promise<{ sessionId: string; path: string }> {
  const root = await mkdtemp(join(tmpdir(), 'liminal-damaged-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', root);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
  const folder = join(root, 'projects', '-project');
  await mkdir(folder, { recursive: true });
  const sessionId = randomUUID();
  const path = join(folder, `${sessionId}.jsonl`);
  await write(path, text);
  return { sessionId, path };
}

/** Writes a session's file with an old modification time, as a file that is no longer being written. */
async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await utimes(path, 1_000_000, 1_000_000);
}

const entry = (type: string, uuid: string, parentUuid: string | null, fields: Fields): Fields => ({
  parentUuid,
  isSidechain: false,
  type,
  uuid,
  sessionId: 's',
  timestamp: '2026-01-01T00:00:00.000Z',
  ...fields,
});
const user = (uuid: string, parent: string | null, content: unknown, fields: Fields = {}): Fields =>
  entry('user', uuid, parent, { message: { role: 'user', content }, ...fields });
const agent = (uuid: string, parent: string | null, said: string, fields: Fields = {}): Fields =>
  entry('assistant', uuid, parent, {
    message: { id: `m-${uuid}`, model: 'model', content: [{ type: 'text', text: said }] },
    ...fields,
  });
const boundary = (uuid: string, logicalParentUuid: string | null): Fields =>
  entry('system', uuid, null, {
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    logicalParentUuid,
  });
const summary = (uuid: string, parent: string): Fields =>
  user(uuid, parent, 'This session is being continued from a previous conversation. In short: S.', {
    isCompactSummary: true,
  });
const lines = (entries: readonly Fields[]): string =>
  entries.map((one) => `${JSON.stringify(one)}\n`).join('');

/** The messages that are shown in the conversation, and in branches outside it. */
async function shown(text: string, kept?: { sessionId: string; path: string }) {
  const { sessionId, path } = kept ?? (await store(text));
  if (kept) await write(path, text);
  const turns = (await readHistory(sessionId, '/project')) ?? [];
  const wordsOf = (isLeft: boolean): string[] =>
    turns
      .filter((turn) => (turn.isLeft === true) === isLeft)
      .flatMap(({ turnId, events }) => foldTurn(events, turnId).outputItems)
      .flatMap((item) =>
        item.type === 'message'
          ? item.content
          : item.type === 'function_call_output'
            ? String(item.output)
            : [],
      );
  return { said: wordsOf(false), left: wordsOf(true) };
}

const compaction = 'The conversation so far was summarised to make room.';
const gap = expect.stringMatching(/^A part of this conversation is missing/);
const cut = expect.stringMatching(/^A part of Claude Code’s file cannot be read here/);
const noBeginning = expect.stringMatching(/^The beginning of this conversation is missing/);
const summaryText = expect.stringMatching(/In short: S\.$/);
const start = [user('a', null, 'One?'), agent('b', 'a', 'One.')];
const compacted = [...start, boundary('c', 'b'), summary('d', 'c')];

const cases: [string, string, unknown[], unknown[]?][] = [
  [
    'compacted twice',
    lines([
      ...compacted,
      user('e', 'd', 'Two?'),
      agent('f', 'e', 'Two.'),
      boundary('g', 'f'),
      summary('h', 'g'),
      user('i', 'h', 'Three?'),
    ]),
    ['One?', 'One.', compaction, 'Two?', 'Two.', compaction, 'Three?'],
  ],
  [
    'compacted in the middle of a turn',
    lines([...compacted, agent('e', 'd', 'Still one.')]),
    ['One?', 'One.', compaction, 'Still one.'],
  ],
  [
    'compacted by a command, which is stored after its compaction',
    lines([
      ...compacted,
      user('e', 'd', 'Caveat', { isMeta: true }),
      user('f', 'e', '<command-name>/compact</command-name>'),
      user('g', 'f', '<local-command-stdout>Compacted (ctrl+o to see it)</local-command-stdout>'),
    ]),
    ['One?', 'One.', '/compact', compaction],
  ],
  [
    'with a summary that names no previous entry',
    lines([...start, boundary('c', null), summary('d', 'c'), user('e', 'd', 'Two?')]),
    ['One?', 'One.', compaction, 'Two?'],
  ],
  [
    'with only the summary',
    lines([boundary('c', 'lost'), summary('d', 'c'), agent('e', 'd', 'On.')]),
    [noBeginning, compaction, summaryText, 'On.'],
  ],
  [
    'with only the summary, without its compaction',
    lines([summary('d', 'lost'), user('e', 'd', 'Two?')]),
    [noBeginning, summaryText, 'Two?'],
  ],
  [
    'with only a title',
    lines([{ type: 'summary', summary: 'About numbers', leafUuid: 'lost' }]),
    [expect.stringMatching(/only a title .*About numbers$/)],
  ],
  [
    'with two roots',
    lines([...start, user('c', null, 'Two?'), agent('d', 'c', 'Two.')]),
    ['One?', 'One.', expect.stringMatching(/new conversation begins here/), 'Two?', 'Two.'],
  ],
  [
    'with a missing parent',
    lines([...start, user('d', 'lost', 'Two?')]),
    ['One?', 'One.', gap, 'Two?'],
  ],
  ['without its beginning', lines([agent('b', 'lost', 'One.')]), [noBeginning, 'One.']],
  [
    'with a cut line',
    `${lines(start)}{"parentUuid":"b","type":"user","uu\n${lines([agent('d', 'c', 'Two.')])}`,
    ['One?', 'One.', cut, 'Two.'],
  ],
  [
    'with a line that runs into the next',
    `${lines(start)}{"parentUuid":"b","type":"us${lines([user('d', 'b', 'Two?')])}`,
    ['One?', 'One.', cut, 'Two?'],
  ],
  ['with two whole lines in one', lines(start).replace('}\n{', '}{'), ['One?', 'One.']],
  ['with a cut end', `${lines(start)}{"parentUuid":"b"`, ['One?', 'One.', cut]],
  [
    'with an entry that was stored twice',
    lines([...start, user('c', 'b', 'Two?'), start[1]!, agent('d', 'c', 'Two.')]),
    ['One?', 'One.', 'Two?', 'Two.'],
  ],
  [
    'with two entries with the same id',
    lines([...start, agent('b', 'a', 'Other.'), user('c', 'b', 'Two?')]),
    ['One?', 'One.', 'Other.', 'Two?'],
  ],
  [
    'with an abandoned branch',
    lines([...start, user('c', 'b', 'Wrong?'), agent('d', 'c', 'Wrong.'), user('e', 'b', 'Two?')]),
    ['One?', 'One.', 'Two?'],
    ['Wrong?', 'Wrong.'],
  ],
  [
    'with results of parallel calls',
    lines([
      user('a', null, 'One?'),
      entry('assistant', 'b', 'a', {
        message: { id: 'm', model: 'x', content: [{ type: 'tool_use', id: '1', name: 'A' }] },
      }),
      entry('assistant', 'c', 'b', {
        message: { id: 'm', model: 'x', content: [{ type: 'tool_use', id: '2', name: 'A' }] },
      }),
      user('d', 'b', [{ type: 'tool_result', tool_use_id: '1', content: 'R1' }], {
        toolUseResult: 'R1',
      }),
      user('e', 'c', [{ type: 'tool_result', tool_use_id: '2', content: 'R2' }], {
        toolUseResult: 'R2',
      }),
      agent('f', 'e', 'Done.'),
    ]),
    ['One?', 'R1', 'R2', 'Done.'],
  ],
  [
    'with a subagent in the same file',
    lines([
      user('a', null, 'One?'),
      entry('assistant', 'b', 'a', {
        message: {
          id: 'm',
          model: 'x',
          content: [{ type: 'tool_use', id: '1', name: 'Task', input: { prompt: 'Look.' } }],
        },
      }),
      user('s', null, 'Look.', { isSidechain: true }),
      agent('t', 's', 'Looked.', { isSidechain: true }),
      user('c', 'b', [{ type: 'tool_result', tool_use_id: '1', content: 'R' }]),
      agent('d', 'c', 'Done.'),
    ]),
    ['One?', 'Looked.', 'R', 'Done.'],
  ],
  [
    'with a subagent whose call is not in the file',
    lines([
      ...start,
      user('s', null, 'Look.', { isSidechain: true }),
      agent('t', 's', 'Looked.', { isSidechain: true }),
    ]),
    [
      'One?',
      'One.',
      expect.stringMatching(/the call that started this subagent.*\n\nLook\.$/),
      'Looked.',
    ],
  ],
];

test.each(cases)(
  'all messages of a damaged transcript are shown: a transcript %s',
  async (_, text, said, left = []) => {
    expect(await shown(text)).toEqual({ said, left });
  },
);

test.each([
  [
    'only a summary',
    [boundary('c', 'lost'), summary('d', 'c')],
    'A conversation without its beginning',
  ],
  ['only an answer', [agent('b', 'lost', 'One.')], 'One.'],
])(
  'a session of which %s is left is found, and is listed among the sessions of its folder and of all folders',
  async (_, entries, title) => {
    const { sessionId } = await store(lines(entries.map((one) => ({ ...one, cwd: '/project' }))));
    const expected = { sessionId, projectDir: '/project', title };
    expect(await listStored()).toMatchObject([expected]);
    expect(await listStored('/project')).toMatchObject([expected]);
    expect(await listStored('/other')).toEqual([]);
    expect(await findStored(sessionId, '/project')).toMatchObject(expected);
  },
);

test('a file without messages, and a subagent’s file, are not listed as sessions', async () => {
  const aside = agent('b', null, 'Aside.', { isSidechain: true, cwd: '/project' });
  for (const text of [lines([aside]), lines([{ type: 'file-history-snapshot' }]), '{"cut']) {
    const { sessionId } = await store(text);
    expect(await listStored()).toEqual([]);
    expect(await findStored(sessionId)).toBeUndefined();
  }
});

test('a last line that is still being written does not count as a missing part', async () => {
  const { sessionId, path } = await store('');
  await writeFile(path, `${lines(start)}{"parentUuid":"b"`);
  const turns = await readHistory(sessionId, '/project');
  expect(JSON.stringify(turns)).not.toContain('cannot be read');
});

/** A step of a random transcript: the entry's kind, its parent, and the damage to its line. */
const step = fc.record({
  kind: fc.constantFrom('user', 'agent', 'agent', 'compaction', 'sidechain', 'command'),
  parent: fc.oneof(
    { weight: 6, arbitrary: fc.constant('last' as const) },
    { weight: 1, arbitrary: fc.constantFrom('none' as const, 'lost' as const) },
    { weight: 2, arbitrary: fc.nat(30) },
  ),
  line: fc.oneof(
    { weight: 8, arbitrary: fc.constant('whole' as const) },
    { weight: 1, arbitrary: fc.constantFrom('glued' as const, 'twice' as const, 'lost' as const) },
    { weight: 1, arbitrary: fc.constant('cut' as const) },
  ),
});

test('in randomly damaged transcripts, each text is shown once, in the conversation or in a branch', async () => {
  const kept = await store('');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const texts: string[] = [];
      let file = '';
      const ids = [...steps.keys()].map((place) => `id-${place}`);
      for (const [place, { kind, parent, line }] of steps.entries()) {
        const before = place === 0 ? null : ids[place - 1]!;
        const parentId =
          parent === 'last'
            ? before
            : parent === 'none'
              ? null
              : parent === 'lost'
                ? 'gone'
                : (ids[parent] ?? 'gone');
        const id = ids[place]!;
        const words = `<${place}>`;
        const made =
          kind === 'user'
            ? user(id, parentId, `Say ${words}`)
            : kind === 'agent'
              ? agent(id, parentId, `Said ${words}`)
              : kind === 'compaction'
                ? boundary(id, parentId)
                : kind === 'sidechain'
                  ? agent(id, parentId, `Aside ${words}`, { isSidechain: true })
                  : entry('system', id, parentId, {
                      subtype: 'local_command',
                      content: `<local-command-stdout>Out ${words}</local-command-stdout>`,
                    });
        const written = JSON.stringify(made);
        if (line === 'lost') continue;
        if (line === 'cut') {
          file += `${written.slice(0, 40)}\n`;
          continue;
        }
        if (kind !== 'compaction') texts.push(words);
        file +=
          line === 'twice'
            ? `${written}\n${written}\n`
            : line === 'glued'
              ? written
              : `${written}\n`;
      }
      const { said, left } = await shown(file, kept);
      const all = [...said, ...left].join(' ');
      for (const words of texts) expect([words, all.split(words).length - 1]).toEqual([words, 1]);
      const isCut = steps.some(({ line }) => line === 'cut');
      expect(all.includes('cannot be read here')).toBe(isCut);
    }),
    { numRuns: 150 },
  );
});
