import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import css from './Fold.module.css';

interface FoldProps {
  summary: string;
  /** Whether the fold is open at first. */
  isOpen?: boolean;
  className?: string | undefined;
  children: ReactNode;
}

/** Content below a summary. A press on the summary opens or closes the content. */
export function Fold({ summary, isOpen = false, className, children }: FoldProps) {
  const [opensItself] = useState(isOpen);
  return (
    <details className={className} open={opensItself}>
      <summary className={css.summary}>
        <ChevronRight size={14} aria-hidden="true" />
        <span>{summary}</span>
      </summary>
      {children}
    </details>
  );
}
