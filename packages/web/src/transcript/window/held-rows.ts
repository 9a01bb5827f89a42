/**
 * The most rows of a selection that are kept in the page. A larger selection (such as after Ctrl+A) keeps only some of
 * its rows there.
 */
const most = 400;

/**
 * Returns the rows that must stay in the page: the row with the focus, which would otherwise move to the body, and all
 * rows of the selection.
 */
export function heldRows(column: HTMLElement): readonly string[] {
  const rows = new Set<string>();
  const focused = rowOf(document.activeElement, column);
  if (focused !== undefined) rows.add(keyOf(focused));
  const selection = getSelection();
  if (selection === null || selection.isCollapsed) return [...rows];
  const start = rowOf(selection.anchorNode, column);
  const end = rowOf(selection.focusNode, column);
  if (start === undefined || end === undefined) return [...rows];
  const drawn = [...column.querySelectorAll<HTMLElement>('[data-row]')];
  const [from = 0, to = 0] = [drawn.indexOf(start), drawn.indexOf(end)].toSorted((a, b) => a - b);
  if (to - from < most) for (const row of drawn.slice(from, to + 1)) rows.add(keyOf(row));
  return [...rows];
}

function rowOf(node: Node | null, column: HTMLElement): HTMLElement | undefined {
  const element = node instanceof Element ? node : node?.parentElement;
  const row = element?.closest<HTMLElement>('[data-row]');
  return row && column.contains(row) ? row : undefined;
}

function keyOf(row: HTMLElement): string {
  return row.dataset['row'] ?? '';
}
