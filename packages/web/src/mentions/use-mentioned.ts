import {
  blocksMax,
  type ContentBlock,
  linkedMentions,
  mentionLink,
  mentionsIn,
} from '@liminal/protocol';
import { useCallback, useMemo } from 'react';
import { useDraft } from '../storage/drafts.ts';
import { readTexts } from '../storage/read-texts.ts';

interface Sent {
  message: string;
  blocks?: readonly ContentBlock[] | undefined;
}

/** The number of chosen files that are remembered for each session. The newest are kept. */
const most = 200;

/** The files that were chosen for a session's messages. */
export interface Mentioned {
  /** Must be called when a file is chosen. */
  add: (path: string) => void;
  /**
   * Returns the blocks to send with a message: the given blocks, and links to the chosen files that the message
   * mentions.
   */
  blocksOf: (message: string, blocks?: readonly ContentBlock[]) => ContentBlock[];
  /**
   * Returns the blocks of an edited message; no field `blocks` if neither the earlier nor the edited message mentions a
   * file.
   */
  blocksOfEdited: (message: string, before: Sent | undefined) => { blocks?: ContentBlock[] };
}

/**
 * Remembers the chosen files. They are stored like drafts, so that a mention is still recognised when its message is
 * edited or sent again.
 */
export function useMentioned(sessionId: string, reportedFolder: string | undefined): Mentioned {
  const [stored, setStored] = useDraft(`${sessionId} mentions`);
  // Store the folder, because a page that was just opened may send a message before the server has reported the
  // session's folder.
  const [storedFolder, setStoredFolder] = useDraft(`${sessionId} folder`);
  const folder = reportedFolder ?? (storedFolder === '' ? undefined : storedFolder);
  const chosen = useMemo(() => readTexts(stored === '' ? null : stored), [stored]);
  const add = useCallback(
    (path: string) => {
      const others = chosen.filter((one) => one !== path);
      setStored(JSON.stringify([...others, path].slice(-most)));
      setStoredFolder(folder ?? '');
    },
    [chosen, folder, setStored, setStoredFolder],
  );
  const blocksOf = useCallback(
    (message: string, blocks: readonly ContentBlock[] = []) =>
      folder === undefined ? [...blocks] : withLinks(message, blocks, chosen, folder),
    [chosen, folder],
  );
  const blocksOfEdited = useCallback(
    (message: string, before: Sent | undefined) => {
      const { message: text = '', blocks: held = [] } = before ?? {};
      const { others } = linkedMentions(text, held, folder);
      const blocks = blocksOf(message, others);
      const isSame = others.length === held.length && blocks.length === held.length;
      return isSame ? {} : { blocks };
    },
    [blocksOf, folder],
  );
  return { add, blocksOf, blocksOfEdited };
}

function withLinks(
  message: string,
  blocks: readonly ContentBlock[],
  chosen: readonly string[],
  folder: string,
): ContentBlock[] {
  const { mentions, others } = linkedMentions(message, blocks, folder);
  const known = new Set([...chosen, ...mentions.map(({ path }) => path)]);
  const paths = new Set(mentionsIn(message).map(({ path }) => path));
  const linked = [...paths].flatMap((path) => {
    if (known.has(path)) return mentionLink(folder, path);
    // A chosen folder is also recognised if its name was then typed without the slash.
    return known.has(`${path}/`) ? mentionLink(folder, `${path}/`) : [];
  });
  return [...others, ...linked.slice(0, Math.max(0, blocksMax - others.length))];
}
