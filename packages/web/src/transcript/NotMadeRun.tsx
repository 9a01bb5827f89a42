import { isInterruption } from '@liminal/protocol';
import { Ban } from 'lucide-react';
import { Disclosure } from '../look/Disclosure.tsx';
import type { ToolRow } from './arrange.ts';
import { ToolCard } from './ToolCard.tsx';
import card from './ToolCard.module.css';
import css from './ReadRun.module.css';
import { openName, RowScope, useRemembered } from './remembered.ts';
import { RowGuard } from './RowGuard.tsx';
import { neverRan, toolPhase } from './tool-outcome.ts';
import { notMadeWords } from './tool-words.ts';
import { serverRestarted, useTurnError } from './turn-error.ts';

interface NotMadeRunProps {
  rows: readonly ToolRow[];
  folder: string | undefined;
  turnEnded: boolean;
}

/** Shows one line for consecutive calls that had no effect, because a person stopped or rejected them. */
export function NotMadeRun({ rows, folder, turnEnded }: NotMadeRunProps) {
  const [open, setOpen] = useRemembered(openName, false);
  const label = notMadeWords(rows.map((row) => row.call));
  const isRejected = rows.every(
    ({ call, approval }) => toolPhase(call, false, turnEnded, approval) === 'rejected',
  );
  const wasInterrupted = isInterruption(useTurnError());
  const areUnrun = rows.every(({ call, approval }) => neverRan(call, approval));
  const why = wasInterrupted && areUnrun ? serverRestarted : 'stopped';
  return (
    <div className={css.run} role="group" aria-label={label} data-count={rows.length}>
      <Disclosure className={card.head} isOpen={open} onToggle={() => setOpen(!open)}>
        <Ban size={15} aria-hidden="true" />
        <span className={card.verb}>{label}</span>
        <span className={card.subject}>{isRejected ? 'you rejected them' : why}</span>
      </Disclosure>
      {open && (
        <div className={css.calls}>
          {rows.map(({ key, call, approval }) => (
            <RowScope key={key} value={key}>
              <RowGuard of={call}>
                <ToolCard call={call} approval={approval} folder={folder} turnEnded={turnEnded} />
              </RowGuard>
            </RowScope>
          ))}
        </div>
      )}
    </div>
  );
}
