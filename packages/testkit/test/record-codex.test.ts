import { expect, test } from 'vitest';
import { codexCases } from '../src/codex/cases/index.ts';
import { codexRecordingNames, loadCodexRecording } from '../src/codex/fixtures.ts';
import { recordCodex } from '../src/codex/record.ts';

test('every case has a recording, and every recording a case', async () => {
  expect(await codexRecordingNames()).toEqual(codexCases.map(({ name }) => name).toSorted());
});

test.each(['reasoning-parts', 'patch-update', 'permission-rejected'])(
  'the installed Codex still does what is recorded: %s',
  async (name) => {
    const recordedCase = codexCases.find((candidate) => candidate.name === name)!;
    const [now, then] = [await recordCodex(recordedCase), await loadCodexRecording(name)];
    expect(now.entries).toEqual(then.entries);
    expect(now.agent).toBe(then.agent);
  },
);
