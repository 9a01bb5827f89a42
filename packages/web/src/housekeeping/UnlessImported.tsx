import type { SessionSummary } from '@liminal/protocol';
import { FileDown } from 'lucide-react';
import type { ReactNode } from 'react';
import css from './ArchivedNote.module.css';

interface UnlessImportedProps {
  session: SessionSummary | undefined;
  /** The composer. */
  children: ReactNode;
}

/** Shows the composer. For a session that was imported from a file and cannot be continued, shows a note instead. */
export function UnlessImported({ session, children }: UnlessImportedProps) {
  if (session?.importedFrom === undefined) return children;
  const { exportedAt } = session.importedFrom;
  return (
    <div className={css.note} data-imported>
      <FileDown size={14} aria-hidden="true" />
      <p>
        Imported from a file of{' '}
        <time dateTime={exportedAt}>{new Date(exportedAt).toLocaleString()}</time>. It can be read,
        and does not go on: what its agent knows of it is not here.
      </p>
    </div>
  );
}
