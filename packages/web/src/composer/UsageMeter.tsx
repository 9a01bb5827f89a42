import type { Usage } from '@liminal/protocol';
import { dollars, tokens } from '../words/amounts.ts';
import css from './UsageMeter.module.css';

/** From this share on, the context is shown as nearly full. */
const nearlyFull = 0.8;

/** Shows how full the agent's context is, and what the session has cost. */
export function UsageMeter({ usage }: { usage: Usage | undefined }) {
  if (usage === undefined) return null;
  const { contextTokens, contextWindow, costUsd } = usage;
  return (
    <span className={css.usage} data-usage>
      {contextTokens !== undefined && contextWindow !== undefined && contextWindow > 0 && (
        <ContextUsage used={contextTokens} size={contextWindow} />
      )}
      {costUsd !== undefined && costUsd > 0 && (
        <span title="Cost of this session">{dollars(costUsd)}</span>
      )}
    </span>
  );
}

function ContextUsage({ used, size }: { used: number; size: number }) {
  const share = Math.min(1, used / size);
  const title = `${Math.round(share * 100)}% of the context is in use`;
  return (
    <span className={css.context} data-full={share >= nearlyFull} title={title}>
      <svg viewBox="0 0 16 16" width="13" height="13" role="img" aria-label={title}>
        <circle cx="8" cy="8" r="6" className={css.track} />
        <circle
          cx="8"
          cy="8"
          r="6"
          className={css.used}
          pathLength="1"
          strokeDasharray={`${share} 1`}
        />
      </svg>
      <span className={css.numbers}>
        {tokens(used)} / {tokens(size)}
      </span>
    </span>
  );
}
