import { createContext, useContext } from 'react';

/** What the parts of a block need to know of their block and their message. */
export interface BlockPlace {
  /** Length of the growing Markdown (characters); undefined for a finished block. */
  growsAt: number | undefined;
  /** The numbers of the footnotes in use, by normalized label. */
  numbers: ReadonlyMap<string, number>;
  /** A footnote's element id. */
  noteId: (label: string) => string;
}

const nowhere: BlockPlace = {
  growsAt: undefined,
  numbers: new Map(),
  noteId: (label) => label,
};

export const BlockContext = createContext(nowhere);

export function useBlockPlace(): BlockPlace {
  return useContext(BlockContext);
}
