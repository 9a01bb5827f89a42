import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { useCallback, useEffect, useState } from 'react';
import { groupHits, type SessionHits } from './group-hits.ts';

/** So many hits are asked for. */
export const mostHits = 60;
/** Somebody who types for no longer than this (ms) has not finished. */
const pause = 180;

export interface HistorySearch {
  /** `idle` while there is nothing to look for. */
  phase: 'idle' | 'searching' | 'found' | 'failed';
  /** While it searches: what was found last. */
  groups: readonly SessionHits[];
  /** There may be more than was asked for. */
  isCut: boolean;
  problem: string | undefined;
  retry: () => void;
}

interface Answer {
  text: string;
  groups: readonly SessionHits[];
  isCut: boolean;
  problem?: string;
}

const noAnswer: Answer = { text: '', groups: [], isCut: false };

/** Looks for a text in all conversations, once it has been typed; what is typed next gives the search up. */
export function useHistorySearch(typed: string): HistorySearch {
  const { requests } = useClient();
  const [answer, setAnswer] = useState(noAnswer);
  const [attempt, setAttempt] = useState(0);
  const text = typed.trim();
  const asks = isWorthAsking(text);

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

function phaseOf(asks: boolean, text: string, answer: Answer): HistorySearch['phase'] {
  if (!asks) return 'idle';
  if (answer.text !== text) return 'searching';
  return answer.problem === undefined ? 'found' : 'failed';
}

/** One letter is in everything, unless it is a word. */
function isWorthAsking(text: string): boolean {
  return text.length > 1 || /\p{sc=Han}/u.test(text);
}
