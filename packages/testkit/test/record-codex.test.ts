import { readFile } from 'node:fs/promises';
import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { codexCases } from '../src/codex/cases/index.ts';
import { codexRecordingNames, loadCodexRecording } from '../src/codex/fixtures.ts';
import { recordCodex } from '../src/codex/record.ts';

test('every case has a recording, and every recording belongs to a case', async () => {
  expect(await codexRecordingNames()).toEqual(codexCases.map(({ name }) => name).toSorted());
});

test('the page about the recordings describes every recording, and no other recordings', async () => {
  const page = await readFile(new URL('../fixtures/codex/README.md', import.meta.url), 'utf8');
  const rows = page.split('\n').flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? []);
  const patterns = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  const names = codexCases.map(({ name }) => name);
  const matching = (pattern: string) => names.filter((name) => matchesGlob(name, pattern));
  expect(patterns.filter((pattern) => matching(pattern).length === 0)).toEqual([]);
  const placed = patterns.flatMap(matching);
  expect(names.filter((name) => !placed.includes(name))).toEqual([]);
});

test.each(['reasoning-parts', 'patch-update', 'permission-rejected'])(
  'the installed Codex still behaves as recorded: %s',
  async (name) => {
    const recordedCase = codexCases.find((candidate) => candidate.name === name)!;
    const [now, then] = [await recordCodex(recordedCase), await loadCodexRecording(name)];
    expect(now.entries).toEqual(then.entries);
    expect(now.agent).toBe(then.agent);
  },
);
