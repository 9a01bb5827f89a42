import type { ProjectPlace } from '../project/project-path.ts';

/** One search of the project. */
export interface Query {
  /** The folder or file to search. */
  place: ProjectPlace;
  isFile: boolean;
  /** A regular expression. */
  pattern: string;
  /**
   * A pattern for files, relative to the searched folder; a pattern without a slash is compared with file names only.
   */
  glob?: string | undefined;
  ignoreCase: boolean;
  /** The number of lines to show before and after each match. */
  context: number;
}

/** A line that matches, or that is near a match. */
export interface FoundLine {
  /** The file's path, relative to the session's folder that contains it. */
  name: string;
  /** The line's number, from 1; undefined for a line that is too long to read. */
  line: number | undefined;
  isMatch: boolean;
  /** The line without its line end. If the line is long, only its beginning. */
  text: string;
}

/** The most bytes of a line that are returned. */
export const maxLineBytes = 2_000;
/** The largest file that is searched, in bytes. */
export const maxFileBytes = 64 * 1024 * 1024;
