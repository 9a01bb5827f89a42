import { FixtureFolder } from '../recording/fixture-folder.ts';
import { ClaudeRecording } from './recording.ts';

/** Recordings of the real Claude Code. The folder `cases/` contains a file for each. */
export const claudeFixtures = new FixtureFolder(
  new URL('../../fixtures/claude-code/', import.meta.url),
  (json) => ClaudeRecording.parse(json),
);

/** Loads one recording, by the name of its case. */
export const loadClaudeRecording = (name: string): Promise<ClaudeRecording> =>
  claudeFixtures.load(name);

/** Resolves with the names of all recordings, sorted. */
export const claudeRecordingNames = (): Promise<string[]> => claudeFixtures.names();
