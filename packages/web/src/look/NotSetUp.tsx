import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import css from './NotSetUp.module.css';

interface NotSetUpProps {
  names: readonly string[];
  /** Whether the list is open when it appears. */
  isOpen?: boolean;
  className?: string | undefined;
  children: ReactNode;
}

/** A folded list of agents that are not set up: its summary names them. */
export function NotSetUp({ names, isOpen = false, className, children }: NotSetUpProps) {
  // From then on the person opens and closes it.
  const [opensItself] = useState(isOpen);
  return (
    <details className={className} open={opensItself}>
      <summary className={css.summary}>
        <ChevronRight size={14} aria-hidden="true" />
        <span>Not set up: {names.join(', ')}</span>
      </summary>
      {children}
    </details>
  );
}
