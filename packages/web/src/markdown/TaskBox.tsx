import { Square, SquareCheck } from 'lucide-react';
import css from './TaskBox.module.css';

/** Shows the box of a task in a list. The box shows whether the task is done, and cannot be ticked. */
export function TaskBox({ checked = false }: { checked?: boolean | undefined }) {
  const Icon = checked ? SquareCheck : Square;
  return (
    <Icon
      size={15}
      className={css.box}
      data-task
      role="img"
      aria-label={checked ? 'done' : 'to do'}
      aria-hidden={false}
    />
  );
}
