import type { JoinedTurn } from '@liminal/client';
import { projectSettingsCall } from '@liminal/protocol';
import { memo } from 'react';
import { ReadOnlyProvider, useReadOnly } from './read-only.ts';
import { RowView } from './RowList.tsx';
import css from './Transcript.module.css';
import { TurnEnd } from './TurnEnd.tsx';
import { TurnErrorProvider } from './turn-error.ts';
import type { DrawnTurn } from './window/lay-out.ts';
import { toRows } from './window/turn-rows.ts';

interface TurnBlockProps {
  turn: JoinedTurn;
  /** The turn's rows that are in the page, and gaps that replace its other rows. */
  parts: DrawnTurn['parts'];
  folder: string | undefined;
  isLast: boolean;
  /** The label above the turn, for example that the turn was made in a terminal; undefined without a label. */
  place: string | undefined;
  /** The agent's name. */
  agent: string;
  /** Whether the turn was taken back. The agent no longer knows such a turn, so the turn has no actions. */
  isTakenBack: boolean;
}

/**
 * Shows one turn: the person's message, the agent's work, and the end. The turn is rendered again only when it changes.
 */
export const TurnBlock = memo(function TurnBlock(props: TurnBlockProps) {
  const { turn, parts, folder, isLast, place, agent, isTakenBack } = props;
  const isReadOnly = useReadOnly();
  const [first] = toRows([turn]);
  const ended = turn.status !== 'in_progress';
  return (
    <section
      className={css.turn}
      data-turn-id={turn.turnId}
      data-status={turn.status}
      data-settled={ended}
      aria-label={turnName(turn)}
      aria-busy={!ended}
      data-taken-back={isTakenBack}
    >
      <ReadOnlyProvider value={isReadOnly || isTakenBack}>
        {parts.map((part) =>
          'kind' in part ? (
            <RowGap key={part.key} height={part.height} />
          ) : (
            <div key={part.key} className={css.row} data-row={part.key}>
              {place !== undefined && part === first && <p className={css.place}>{place}</p>}
              {part === first && isUnexplained(turn) && (
                <p className={css.unasked}>{agent} went on by itself</p>
              )}
              {part.row === undefined ? (
                <TurnEnd turn={turn} isLast={isLast} />
              ) : (
                <TurnErrorProvider value={turn.error?.code}>
                  <RowView
                    row={part.row}
                    folder={folder}
                    turnEnded={ended}
                    turnError={turn.error?.message}
                  />
                </TurnErrorProvider>
              )}
            </div>
          ),
        )}
      </ReadOnlyProvider>
    </section>
  );
}, sameTurn);

function sameTurn(before: TurnBlockProps, after: TurnBlockProps): boolean {
  return (
    before.turn === after.turn &&
    before.folder === after.folder &&
    before.isLast === after.isLast &&
    before.place === after.place &&
    before.agent === after.agent &&
    before.isTakenBack === after.isTakenBack &&
    before.parts.length === after.parts.length &&
    before.parts.every((part, index) => samePart(part, after.parts[index]))
  );
}

function samePart(a: DrawnTurn['parts'][number], b: DrawnTurn['parts'][number] | undefined) {
  if ('kind' in a) return b !== undefined && 'kind' in b && a.height === b.height;
  return a === b;
}

/** Shows the gap that replaces rows that are not in the page. */
export function RowGap({ height }: { height: number }) {
  return <div className={css.gap} style={{ height }} data-gap={height} aria-hidden="true" />;
}

/**
 * Whether a turn has items, but no message of a person, no notice and no earlier turn that explains why the turn began.
 */
function isUnexplained({ trigger, continuationOf, items: [first] }: JoinedTurn): boolean {
  const isWhy =
    continuationOf !== undefined ||
    (first?.type === 'message' && first.origin !== 'agent') ||
    // A permission request that came after a turn began this turn; no agent has started.
    first?.type === 'approval' ||
    // The server's question about project settings began this turn; no agent has started.
    (first?.type === 'tool_call' && first.toolName === projectSettingsCall);
  return trigger === 'agent' && first !== undefined && !isWhy;
}

/** Returns the turn's accessible name. Each turn has a different name. */
function turnName({ startedAt }: JoinedTurn): string {
  return startedAt === undefined ? 'Turn' : `Turn of ${new Date(startedAt).toLocaleTimeString()}`;
}
