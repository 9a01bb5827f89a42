import { hasProcessTable } from './table.ts';

export interface ProcessSupport {
  /** Whether every process that an agent starts ends with its session at the latest (invariant 8). */
  complete: boolean;
  /** One sentence for people. */
  sentence: string;
}

/** Returns the text and state that `./liminal doctor` reports about ending agents' processes. */
export function processSupport(): ProcessSupport {
  return hasProcessTable
    ? {
        complete: true,
        sentence: 'All processes that an agent starts end with its session, detached or not.',
      }
    : {
        complete: false,
        sentence:
          'Without Linux’s /proc, only an agent’s process group ends with its session. End detached processes, and agents of a crashed server, by hand.',
      };
}
