import { FixtureFolder } from '../recording/fixture-folder.ts';
import { ClaudeRecording } from './recording.ts';

/** Recordings of the real Claude Code; see `cases/` for a list. */
export const claudeFixtures = new FixtureFolder(
  new URL('../../fixtures/claude-code/', import.meta.url),
  (json) => ClaudeRecording.parse(json),
);

/** One recording by the name of its case. */
export const loadClaudeRecording = (name: string): Promise<ClaudeRecording> =>
  claudeFixtures.load(name);

/** The names of all recordings, sorted. */
export const claudeRecordingNames = (): Promise<string[]> => claudeFixtures.names();
