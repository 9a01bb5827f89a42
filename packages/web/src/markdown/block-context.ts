import { createContext, useContext } from 'react';

/** What the pieces of a block have to know of their block and their message. */
export interface BlockPlace {
  /** Length of the Markdown that is growing (characters); undefined for a block that is finished. */
  growsAt: number | undefined;
  /** The numbers of the footnotes that are referred to, by normalized label. */
  numbers: ReadonlyMap<string, number>;
  /** The id in the page of a footnote. */
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
