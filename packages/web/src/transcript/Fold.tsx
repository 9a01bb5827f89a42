import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import css from './Fold.module.css';
import { openName, useRemembered } from './remembered.ts';

interface FoldProps {
  title: ReactNode;
  children: ReactNode;
  /** There is nothing inside to see. */
  disabled?: boolean;
}

/** One quiet line that opens. What is inside is only made when it is looked at. */
export function Fold({ title, children, disabled = false }: FoldProps) {
  const [open, setOpen] = useRemembered(openName, false);
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
