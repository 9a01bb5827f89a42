import { FixtureFolder } from '../recording/fixture-folder.ts';
import { CodexRecording } from './recording.ts';

/** Recordings of the real `codex app-server`. The folder `cases/` contains a file for each. */
export const codexFixtures = new FixtureFolder(
  new URL('../../fixtures/codex/', import.meta.url),
  (json) => CodexRecording.parse(json),
);

/** Loads one recording, by the name of its case. */
export const loadCodexRecording = (name: string): Promise<CodexRecording> =>
  codexFixtures.load(name);

/** Resolves with the names of all recordings, sorted. */
export const codexRecordingNames = (): Promise<string[]> => codexFixtures.names();
