import type { UpsertObject } from '@liminal/protocol';
import { Markdown } from '../markdown/Markdown.tsx';
import { between, duration } from '../words/time.ts';
import { Elapsed } from './Elapsed.tsx';
import { Fold } from './Fold.tsx';
import css from './Thinking.module.css';

interface ThinkingProps {
  item: Extract<UpsertObject, { type: 'thinking' }>;
  turnEnded: boolean;
}

/** Shows the agent's thoughts, folded. */
export function Thinking({ item, turnEnded }: ThinkingProps) {
  const running = !turnEnded && (item.status === 'create' || item.status === 'update');
  return (
    <div className={css.thinking} data-item-id={item.itemId} data-status={item.status}>
      <Fold
        title={running ? <ThinkingTime since={item.startedAt} /> : thought(item)}
        disabled={item.content === ''}
      >
        <div className={css.content}>
          <Markdown streaming={running}>{item.content}</Markdown>
        </div>
      </Fold>
    </div>
  );
}

function ThinkingTime({ since }: { since: string | undefined }) {
  return (
    <span className={css.running}>
      Thinking <Elapsed since={since} />
    </span>
  );
}

function thought(item: ThinkingProps['item']): string {
  const took = between(item.startedAt, item.sourceTimestamp);
  return took === undefined || took < 1000 ? 'Thought' : `Thought for ${duration(took)}`;
}
