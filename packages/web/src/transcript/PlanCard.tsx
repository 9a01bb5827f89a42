import type { PlanEntry, UpsertObject } from '@liminal/protocol';
import { Circle, CircleCheck, CircleDot, ListTodo } from 'lucide-react';
import css from './PlanCard.module.css';
import { ShownText } from '../look/ShownText.tsx';

interface PlanCardProps {
  item: Extract<UpsertObject, { type: 'plan' }>;
}

/** Shows the agent's plan, and how much of it is done. */
export function PlanCard({ item }: PlanCardProps) {
  const done = item.entries.filter((entry) => entry.status === 'completed').length;
  return (
    <section
      className={css.plan}
      aria-label="Plan"
      data-item-id={item.itemId}
      data-status={item.status}
    >
      <div className={css.head}>
        <ListTodo size={15} aria-hidden="true" />
        Plan
        <span className={css.count}>
          {done} of {item.entries.length}
        </span>
      </div>
      <ol className={css.entries}>
        {item.entries.map((entry, index) => (
          <li key={index} data-status={entry.status}>
            <EntryMark status={entry.status} />
            <span>
              <ShownText text={entry.content} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const marks = {
  pending: { Icon: Circle, label: 'to do' },
  in_progress: { Icon: CircleDot, label: 'in progress' },
  completed: { Icon: CircleCheck, label: 'done' },
};

function EntryMark({ status }: { status: PlanEntry['status'] }) {
  const { Icon, label } = marks[status];
  return <Icon size={15} role="img" aria-label={label} aria-hidden={false} />;
}
