import { expect, test } from 'vitest';
import { claudeCases } from '../src/claude-code/cases/index.ts';
import { claudeRecordingNames, loadClaudeRecording } from '../src/claude-code/fixtures.ts';
import { recordClaude } from '../src/claude-code/record.ts';

test('every case has a recording, and every recording belongs to a case', async () => {
  expect(await claudeRecordingNames()).toEqual(claudeCases.map(({ name }) => name).toSorted());
});

test.each(['text', 'tool-edit', 'retry-cut'])(
  'the installed Claude Code still behaves as recorded: %s',
  async (name) => {
    const recordedCase = claudeCases.find((candidate) => candidate.name === name)!;
    expect(await recordClaude(recordedCase)).toEqual(await loadClaudeRecording(name));
  },
);
