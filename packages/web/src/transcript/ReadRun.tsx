import type { ToolCallUpsert } from '@liminal/protocol';
import { Disclosure } from '../look/Disclosure.tsx';
import { ToolCard } from './ToolCard.tsx';
import card from './ToolCard.module.css';
import css from './ReadRun.module.css';
import { openName, RowScope, useRemembered } from './remembered.ts';
import { RowGuard } from './RowGuard.tsx';
import { ToolIcon } from './ToolIcon.tsx';
import { ToolOutcome } from './ToolOutcome.tsx';
import { toolPhase } from './tool-outcome.ts';
import { readRunWords, toolWords } from './tool-words.ts';

interface ReadRunProps {
  calls: readonly ToolCallUpsert[];
  folder: string | undefined;
  turnEnded: boolean;
}

/** Shows one line for consecutive reads and searches, because a line for each would tell the reader little. */
export function ReadRun({ calls, folder, turnEnded }: ReadRunProps) {
  const [open, setOpen] = useRemembered(openName, false);
  const last = calls.at(-1);
  if (last === undefined) return null;
  const current = calls.findLast((call) => toolPhase(call, false, turnEnded) === 'running') ?? last;
  const label = readRunWords(calls);
  return (
    <div className={css.run} role="group" aria-label={label} data-count={calls.length}>
      <Disclosure className={card.head} isOpen={open} onToggle={() => setOpen(!open)}>
        <ToolIcon kind={last.kind} />
        <span className={card.verb}>{label}</span>
        <span className={card.subject}>{open ? '' : toolWords(current, folder).subject}</span>
        <ToolOutcome
          call={current}
          phase={toolPhase(current, false, turnEnded)}
          began={current.startedAt}
        />
      </Disclosure>
      {open && (
        <div className={css.calls}>
          {calls.map((call) => (
            <RowScope key={call.itemId} value={call.itemId}>
              <RowGuard of={call}>
                <ToolCard call={call} folder={folder} turnEnded={turnEnded} />
              </RowGuard>
            </RowScope>
          ))}
        </div>
      )}
    </div>
  );
}
