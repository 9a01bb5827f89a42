import { memo } from 'react';
import { type Row, waitingBelow } from './arrange.ts';
import { ItemRow } from './ItemRow.tsx';
import { NotMadeRun } from './NotMadeRun.tsx';
import { ReadRun } from './ReadRun.tsx';
import { RowScope } from './remembered.ts';
import { RowGuard } from './RowGuard.tsx';
import { ToolCard } from './ToolCard.tsx';
import { isSubagent } from './tool-words.ts';

/** The props that all rows of a turn share. */
export interface RowContext {
  /** The project's folder. Paths below this folder are shown relative to it. */
  folder: string | undefined;
  turnEnded: boolean;
  /** The error of the whole turn. The error is shown at the end of the turn. */
  turnError: string | undefined;
}

/** Shows one row. The row is rendered again only when its content has changed. */
export const RowView = memo(function RowView({ row, ...place }: { row: Row } & RowContext) {
  return (
    <RowScope value={row.key}>
      <RowGuard of={shownBy(row)}>
        <RowContent row={row} {...place} />
      </RowGuard>
    </RowScope>
  );
}, sameRow);

/** Returns the items that a row shows. Each arrangement makes new row objects, but the items stay the same objects. */
function shownBy(row: Row): unknown {
  if (row.kind === 'item') return row.item;
  if (row.kind === 'tool') return row.call;
  return row.kind === 'reads' ? row.calls : row.rows;
}

function RowContent({ row, ...place }: { row: Row } & RowContext) {
  const { folder, turnEnded } = place;
  switch (row.kind) {
    case 'item':
      return <ItemRow item={row.item} {...place} />;
    case 'tool':
      return (
        <ToolCard
          call={row.call}
          approval={row.approval}
          script={row.script}
          isOwn={row.isOwn}
          waitsFor={row.script && waitingBelow(row.below)}
          answerBelow={isSubagent(row.call) ? lastAgentText(row.below) : undefined}
          folder={folder}
          turnEnded={turnEnded}
        >
          {row.below.length > 0 &&
            row.below.map((below) => <RowView key={below.key} row={below} {...place} />)}
        </ToolCard>
      );
    case 'reads':
      return <ReadRun calls={row.calls} folder={folder} turnEnded={turnEnded} />;
    case 'not-made':
      return <NotMadeRun rows={row.rows} folder={folder} turnEnded={turnEnded} />;
  }
}

/** Returns the text of the agent's last message among the rows. */
function lastAgentText(rows: readonly Row[]): string | undefined {
  const last = rows.findLast(
    (row) => row.kind === 'item' && row.item.type === 'message' && row.item.origin === 'agent',
  );
  return last?.kind === 'item' && last.item.type === 'message' ? last.item.content : undefined;
}

interface RowProps extends RowContext {
  row: Row;
}

function sameRow(before: RowProps, after: RowProps): boolean {
  return (
    before.folder === after.folder &&
    before.turnEnded === after.turnEnded &&
    before.turnError === after.turnError &&
    sameContent(before.row, after.row)
  );
}

/** Compares the items of two rows. The rows themselves cannot be compared, because arranging makes new row objects. */
function sameContent(a: Row, b: Row): boolean {
  if (a.kind === 'item') return b.kind === 'item' && a.item === b.item;
  if (a.kind === 'reads') return b.kind === 'reads' && sameList(a.calls, b.calls, Object.is);
  if (a.kind === 'not-made') {
    return b.kind === 'not-made' && sameList(a.rows, b.rows, sameContent);
  }
  if (b.kind !== 'tool' || a.call !== b.call || a.approval !== b.approval) return false;
  if (a.script !== b.script) return false;
  return sameList(a.below, b.below, sameContent);
}

function sameList<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): boolean {
  return a.length === b.length && a.every((x, index) => same(x, b[index] as T));
}
