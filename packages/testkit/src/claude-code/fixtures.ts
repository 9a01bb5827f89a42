import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ClaudeRecording } from './recording.ts';

/** Where recordings of the real Claude Code lie. */
export const claudeFixtures = fileURLToPath(
  new URL('../../fixtures/claude-code/', import.meta.url),
);

/** One recording by the name of its case; see `cases/` for what there is. */
export async function loadClaudeRecording(name: string): Promise<ClaudeRecording> {
  return ClaudeRecording.parse(JSON.parse(await readFile(`${claudeFixtures}${name}.json`, 'utf8')));
}

/** The names of all recordings, sorted. */
export async function claudeRecordingNames(): Promise<string[]> {
  const files = await readdir(claudeFixtures);
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted();
}
