import { FixtureFolder } from '../recording/fixture-folder.ts';
import { CodexRecording } from './recording.ts';

/** Recordings of the real `codex app-server`; see `cases/` for a list. */
export const codexFixtures = new FixtureFolder(
  new URL('../../fixtures/codex/', import.meta.url),
  (json) => CodexRecording.parse(json),
);

/** One recording by the name of its case. */
export const loadCodexRecording = (name: string): Promise<CodexRecording> =>
  codexFixtures.load(name);

/** The names of all recordings, sorted. */
export const codexRecordingNames = (): Promise<string[]> => codexFixtures.names();
