import type { ProjectPlace } from '../project/project-path.ts';

/** What is looked for. */
export interface Query {
  /** A folder or a file. */
  place: ProjectPlace;
  isFile: boolean;
  /** A regular expression. */
  pattern: string;
  /** Which files, from the searched folder on; one without a slash is compared with names alone. */
  glob?: string | undefined;
  ignoreCase: boolean;
  /** Lines around each match. */
  context: number;
}

/** A line that was found, or stands beside one. */
export interface FoundLine {
  /** The file, from the session's folder on that is searched. */
  name: string;
  /** Counted from 1; undefined of a line that is too long to look at. */
  line: number | undefined;
  isMatch: boolean;
  /** The line without its end; the beginning of a long one. */
  text: string;
}

/** Of a longer line the beginning is given (bytes). */
export const maxLineBytes = 2_000;
/** Larger files are not searched (bytes). */
export const maxFileBytes = 64 * 1024 * 1024;
