import { createContext, useContext } from 'react';

/** The facts about a block and its message that the block's parts need. */
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
