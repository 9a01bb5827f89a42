import type { ProjectPlace } from '../project/project-path.ts';

/** A search of the project. */
export interface Query {
  /** A folder or a file. */
  place: ProjectPlace;
  isFile: boolean;
  /** A regular expression. */
  pattern: string;
  /** Selects files relative to the searched folder; a glob without a slash is compared with file names only. */
  glob?: string | undefined;
  ignoreCase: boolean;
  /** How many lines to show before and after each match. */
  context: number;
}

/** A line that matches, or is near a match. */
export interface FoundLine {
  /** The file, relative to the session's folder that is searched. */
  name: string;
  /** Counted from 1; undefined for a line that is too long to read. */
  line: number | undefined;
  isMatch: boolean;
  /** The line without its line end; of a long line, the beginning. */
  text: string;
}

/** The most bytes of a line that are returned. */
export const maxLineBytes = 2_000;
/** Larger files are not searched (bytes). */
export const maxFileBytes = 64 * 1024 * 1024;
