import { hasProcessTable } from './table.ts';

export interface ProcessSupport {
  /** Whether nothing that an agent starts can outlive its session (invariant 8). */
  complete: boolean;
  /** One sentence for people. */
  sentence: string;
}

/** Returns what `./liminal doctor` reports about ending agents. */
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
