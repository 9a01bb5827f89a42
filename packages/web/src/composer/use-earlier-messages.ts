import type { SessionView } from '@liminal/client';
import { blobIn, type ContentBlock } from '@liminal/protocol';
import { useRef } from 'react';

interface RecalledMessage {
  message: string;
  blocks: readonly ContentBlock[];
}

export type Recall = (to: 'earlier' | 'later') => boolean;

/**
 * Returns a function that steps through the person's earlier messages, as a terminal does: from an empty draft to the
 * newest message, and further while the recalled text is unchanged. The function returns false if there is no message
 * to step to.
 */
export function useEarlierMessages(
  view: SessionView,
  draft: string,
  setDraft: (text: string) => void,
  takeBack: (message: string, blocks: readonly ContentBlock[]) => void,
): Recall {
  const place = useRef<{ at: number; text: string }>(undefined);
  return (to) => {
    const recalled = draft !== '' && place.current?.text === draft ? place.current.at : undefined;
    if (recalled === undefined && (draft !== '' || to === 'later')) return false;
    const at = (recalled ?? -1) + (to === 'earlier' ? 1 : -1);
    if (at < 0) {
      setDraft('');
      return true;
    }
    const found = messageAt(view, at);
    if (found === undefined) return false;
    place.current = { at, text: found.message };
    // Only the newest message is recalled with its attachments.
    if (at === 0 && recalled === undefined) takeBack(found.message, found.blocks);
    else setDraft(found.message);
    return true;
  };
}

/** Returns the person's message at an index, counted from the newest, with the attachments that the server stores. */
function messageAt(view: SessionView, wanted: number): RecalledMessage | undefined {
  let at = 0;
  for (const turn of view.turns.toReversed()) {
    for (const item of turn.items.toReversed()) {
      if (item.type !== 'message' || item.origin !== 'user') continue;
      const { content: message, blocks: all = [] } = item;
      const blocks = all.filter((one) => one.type === 'resource_link' || blobIn(one) !== undefined);
      // A message without text is recalled only if it is the newest message and has attachments.
      if (message === '' && (blocks.length === 0 || at > 0)) continue;
      if (at === wanted) return { message, blocks };
      at += 1;
    }
  }
  return undefined;
}
