import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import css from './Fold.module.css';
import { openName, useRemembered } from './remembered.ts';

interface FoldProps {
  title: ReactNode;
  children: ReactNode;
  /** There is nothing inside to see. */
  disabled?: boolean;
  /** Under which it remembers whether it is open: its own, where it is a part of a row that opens itself. */
  name?: string;
}

/** One quiet line that opens. What is inside is only made when it is looked at. */
export function Fold({ title, children, disabled = false, name = openName }: FoldProps) {
  const [open, setOpen] = useRemembered(name, false);
  const id = useId();
  return (
    <>
      <button
        type="button"
        className={css.summary}
        disabled={disabled}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight size={14} className={css.chevron} aria-hidden="true" />
        {title}
      </button>
      {open && <div id={id}>{children}</div>}
    </>
  );
}
