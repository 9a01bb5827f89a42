import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { useCallback, useEffect, useState } from 'react';
import { groupHits, type SessionHits } from './group-hits.ts';

/** The number of hits that a search requests. */
export const mostHits = 60;
/** The pause in typing (ms) after which a search starts. */
const pause = 180;

export interface HistorySearch {
  /** `idle` while there is no text to search for. */
  phase: 'idle' | 'searching' | 'found' | 'failed';
  /** The results; while a search runs, the results of the previous search. */
  groups: readonly SessionHits[];
  /** Whether the server may have more hits than were requested. */
  isCut: boolean;
  problem: string | undefined;
  retry: () => void;
}

interface SearchAnswer {
  text: string;
  groups: readonly SessionHits[];
  isCut: boolean;
  problem?: string;
}

const noAnswer: SearchAnswer = { text: '', groups: [], isCut: false };

/** Searches all conversations for a text after a pause in typing. Typing more cancels the search. */
export function useHistorySearch(typed: string): HistorySearch {
  const { requests } = useClient();
  const [answer, setAnswer] = useState(noAnswer);
  const [attempt, setAttempt] = useState(0);
  const text = typed.trim();
  const asks = isWorthSearching(text);

  useEffect(() => {
    if (!asks) return undefined;
    const given = new AbortController();
    const search = async () => {
      try {
        const { hits } = await requests.search(text, { limit: mostHits, signal: given.signal });
        if (given.signal.aborted) return;
        setAnswer({ text, groups: groupHits(hits), isCut: hits.length >= mostHits });
      } catch (error) {
        if (given.signal.aborted) return;
        setAnswer({ ...noAnswer, text, problem: describeError(error).message });
      }
    };
    const timer = setTimeout(() => void search(), pause);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [asks, attempt, requests, text]);

  const retry = useCallback(() => {
    setAnswer(noAnswer);
    setAttempt((count) => count + 1);
  }, []);
  const { groups, isCut, problem } = asks ? answer : noAnswer;
  return { phase: phaseOf(asks, text, answer), groups, isCut, problem, retry };
}

function phaseOf(asks: boolean, text: string, answer: SearchAnswer): HistorySearch['phase'] {
  if (!asks) return 'idle';
  if (answer.text !== text) return 'searching';
  return answer.problem === undefined ? 'found' : 'failed';
}

/**
 * Whether a text is worth searching. A single letter is not, because it matches everywhere, unless the letter is a word
 * of its own.
 */
function isWorthSearching(text: string): boolean {
  return text.length > 1 || /\p{sc=Han}/u.test(text);
}
