import { hasProcessTable } from './table.ts';

export interface ProcessSupport {
  /** Whether nothing that an agent starts can outlive its session (invariant 8). */
  complete: boolean;
  /** One sentence for people. */
  sentence: string;
}

/** What `./liminal doctor` says about ending agents. */
export function processSupport(): ProcessSupport {
  return hasProcessTable
    ? {
        complete: true,
        sentence: 'All that an agent starts ends with its session, detached or not.',
      }
    : {
        complete: false,
        sentence:
          'Without Linux’s /proc only an agent’s process group ends with its session: what it detaches, and agents of a server that crashed, must be ended by hand.',
      };
}
