import { createContext, useContext } from 'react';

/** Facts about a block and its message, for the components that render the block's content. */
export interface BlockPlace {
  /** The length of the growing Markdown, in characters; undefined for a finished block. */
  growsAt: number | undefined;
  /** The numbers of the footnotes that are used, by normalized label. */
  numbers: ReadonlyMap<string, number>;
  /** Returns the element id of a footnote. */
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
