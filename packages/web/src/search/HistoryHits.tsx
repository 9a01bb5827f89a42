import { useState } from 'react';
import { AgentMark } from '../app/AgentMark.tsx';
import { SessionLink } from '../app/SessionLink.tsx';
import { Button } from '../look/controls.tsx';
import type { SessionHits } from './group-hits.ts';
import css from './Search.module.css';
import { Snippet } from './Snippet.tsx';
import { type HistorySearch, mostHits } from './use-history-search.ts';
import { labelOf } from '../words/label.ts';

interface HistoryHitsProps {
  search: HistorySearch;
  query: string;
  onFollow?: (() => void) | undefined;
}

/**
 * Lists the hits of a search in conversations, by session. A press on a hit opens the session at the item that matched.
 */
export function HistoryHits({ search, query, onFollow }: HistoryHitsProps) {
  const { phase, groups, isCut, problem, retry } = search;
  if (phase === 'idle') return null;
  return (
    <section aria-label="In conversations" aria-busy={phase === 'searching'}>
      <h2 className={css.heading}>In conversations</h2>
      {phase === 'failed' && (
        <div className={css.words} role="alert">
          <p>The conversations could not be searched: {problem}</p>
          <Button look="quiet" onClick={retry}>
            Try again
          </Button>
        </div>
      )}
      {phase === 'searching' && groups.length === 0 && (
        <p className={css.words} role="status">
          Searching…
        </p>
      )}
      {phase === 'found' && groups.length === 0 && (
        <p className={css.words} role="status">
          No matches in conversations.
        </p>
      )}
      {groups.map((group) => (
        <Group key={group.sessionId} group={group} query={query} onFollow={onFollow} />
      ))}
      {isCut && (
        <p className={css.words}>
          These are the newest {mostHits} places. Add a word to find fewer.
        </p>
      )}
    </section>
  );
}

/** The number of hits that are shown for each session. A click shows more. */
const visible = 3;

interface GroupProps {
  group: SessionHits;
  query: string;
  onFollow?: (() => void) | undefined;
}

function Group({ group, query, onFollow }: GroupProps) {
  const { sessionId, cliType, title, hits } = group;
  const [all, setAll] = useState(false);
  return (
    <section aria-label={labelOf(title)} className={css.group}>
      <h3 className={css.session}>
        <bdi>{title}</bdi>
        <AgentMark cliType={cliType} />
      </h3>
      <ul className={css.hits}>
        {hits.slice(0, all ? hits.length : visible).map(({ key, target, kind, snippet }) => (
          <li key={key}>
            <SessionLink
              className={css.hit}
              sessionId={sessionId}
              itemId={target}
              query={query}
              onFollow={onFollow}
            >
              <span className={css.lines}>
                {kind !== undefined && <span className={css.kind}>{kind}</span>}
                <Snippet query={query}>{snippet}</Snippet>
              </span>
            </SessionLink>
          </li>
        ))}
        {hits.length > visible && !all && (
          <li>
            <button type="button" className={css.more} onClick={() => setAll(true)}>
              Show {hits.length - visible} more
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}
