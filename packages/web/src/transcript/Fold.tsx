import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { Disclosure } from '../look/Disclosure.tsx';
import css from './Fold.module.css';
import { openName, useRemembered } from './remembered.ts';

interface FoldProps {
  title: ReactNode;
  children: ReactNode;
  /** Whether the fold is empty and cannot be opened. */
  disabled?: boolean;
  /**
   * The name under which the fold's state is remembered. If the row itself can also be opened, this name must differ
   * from the row's name.
   */
  name?: string;
}

/** A line that opens when it is pressed. The content is rendered only while the line is open. */
export function Fold({ title, children, disabled = false, name = openName }: FoldProps) {
  const [open, setOpen] = useRemembered(name, false);
  const id = useId();
  return (
    <>
      <Disclosure
        className={css.summary}
        disabled={disabled}
        isOpen={open}
        onToggle={() => setOpen(!open)}
        contentId={id}
      >
        <ChevronRight size={14} className={css.chevron} aria-hidden="true" />
        {title}
      </Disclosure>
      {open && <div id={id}>{children}</div>}
    </>
  );
}
