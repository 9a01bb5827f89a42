import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { FilesResult } from '@liminal/protocol';
import { useEffect, useRef, useState } from 'react';
import type { TypedMention } from './mention-at.ts';

export type FoundFile = FilesResult['files'][number];

/** The result of a query: files, or the error. */
export interface FoundFiles {
  query: string;
  files: readonly FoundFile[];
  isCut: boolean;
  problem?: string;
}

/** The most files that are offered. */
const limit = 30;
/** The pause in typing (ms) after which a request is sent. */
const pause = 60;

/**
 * Returns the files of a folder that match the typed mention; undefined until the first response. While a response is
 * awaited, returns the previous result. If a response arrives after a newer response, it is ignored.
 */
export function useFoundFiles(
  folder: string | undefined,
  mention: TypedMention | undefined,
): FoundFiles | undefined {
  const { requests } = useClient();
  const [found, setFound] = useState<FoundFiles & { from: number }>();
  const asked = useRef(0);
  const answered = useRef(0);
  const isBegun = useRef(false);
  const { from, query } = mention ?? {};

  useEffect(() => {
    if (folder === undefined || from === undefined || query === undefined) {
      isBegun.current = false;
      return;
    }
    const ask = async () => {
      const number = ++asked.current;
      const answer = await requests.findFiles(folder, query, { limit }).then(
        ({ files, truncated = false }) => ({ files, isCut: truncated }),
        (error: unknown) => ({ files: [], isCut: false, problem: describeError(error).message }),
      );
      if (number < answered.current) return;
      answered.current = number;
      setFound({ from, query, ...answer });
    };
    const timer = setTimeout(() => void ask(), isBegun.current ? pause : 0);
    isBegun.current = true;
    return () => clearTimeout(timer);
  }, [folder, from, query, requests]);

  return found?.from === from ? found : undefined;
}
