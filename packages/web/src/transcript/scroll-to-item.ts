import { markWords } from '../search/mark-words.ts';
import { type RefObject, useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { openName, type RowMemory } from './remembered.ts';
import { findItemRow, type TurnRow } from './window/turn-rows.ts';

/** The name that the highlight has in the styles. */
const name = 'found';
/** How much of the window the tabs and the composer may cover at the top and the bottom, in px. */
const edge = 160;

interface ScrollOptions {
  /** The search query that found the item. */
  query?: string | undefined;
  /** Whether the item receives the focus. The default is true. */
  takesFocus?: boolean;
}

type ShowItem = (itemId: string, options: ScrollOptions) => Promise<void>;

/**
 * The conversations in the page, and the items that will be shown when their conversation is in the page (`wanted`), by
 * session id.
 */
const showBySession = new Map<string, ShowItem>();
const wanted = new Map<string, { itemId: string; options: ScrollOptions }>();
/** The number of calls. An earlier call stops when a later call starts. */
let lastCall = 0;

/**
 * Scrolls a session's conversation to one of its loaded items. Opens the folds around the item, marks the item for a
 * moment and focuses it. The words of a search stay marked in the item. If the session is not in the page yet, waits
 * until it is.
 */
export async function scrollToItem(
  sessionId: string,
  itemId: string,
  options: ScrollOptions = {},
): Promise<void> {
  const show = showBySession.get(sessionId);
  if (show === undefined) wanted.set(sessionId, { itemId, options });
  else await show(itemId, options);
}

interface ScrollTarget {
  sessionId: string;
  rows: readonly TurnRow[];
  memory: RowMemory;
  /** Opens the fold that hides the turn of an item. */
  unfold: (itemId: string) => void;
  draw: (index: number) => void;
  leaveEnd: () => void;
  scroller: RefObject<HTMLElement | null>;
}

/** Lets `scrollToItem` scroll a conversation while the conversation is in the page. */
export function useScrollTarget(target: ScrollTarget): void {
  const latest = useRef(target);
  useEffect(() => {
    latest.current = target;
  });
  const { sessionId } = target;
  useEffect(() => {
    const show: ShowItem = (itemId, options) => showItem(() => latest.current, itemId, options);
    showBySession.set(sessionId, show);
    const wish = wanted.get(sessionId);
    wanted.delete(sessionId);
    if (wish !== undefined) void show(wish.itemId, wish.options);
    return () => void showBySession.delete(sessionId);
  }, [sessionId]);
}

async function showItem(
  target: () => ScrollTarget,
  itemId: string,
  { query = '', takesFocus = true }: ScrollOptions,
): Promise<void> {
  const call = ++lastCall;
  const found = await findRow(target, itemId);
  if (found === undefined) return;
  const { place, rows, memory } = found;
  for (const id of [...place.within, itemId]) memory.set(id, openName, true);
  const key = rows[place.index]?.key;
  let shownAs: HTMLElement | null = null;
  await nextFrame();
  // Stop following the end now, because a scroll event in the next frame could make the page follow the end again.
  target().leaveEnd();
  // The rows around the item are rendered frame by frame, and may become taller than estimated. Scroll until no row
  // moves.
  for (let frame = 0, still = 0; still < settled && frame < mostFrames; frame += 1) {
    shownAs = findElement(target().scroller.current, key, itemId);
    if (shownAs === null) {
      // Render synchronously, because the next frame removes a row that is rendered but to which the page has not
      // scrolled.
      flushSync(() => target().draw(place.index));
      shownAs = findElement(target().scroller.current, key, itemId);
    }
    still = shownAs !== null && !scrollToCentre(shownAs) ? still + 1 : 0;
    await nextFrame();
    if (call !== lastCall) return;
  }
  markFound(shownAs, query);
  if (shownAs !== null && takesFocus) mark(shownAs);
}

/** Resolves with the row of an item when the conversation is rendered. The caller may know the item before that. */
async function findRow(target: () => ScrollTarget, itemId: string) {
  for (let frame = 0; frame < mostFrames; frame += 1) {
    await nextFrame();
    const { rows, memory, unfold } = target();
    const place = findItemRow(rows, itemId);
    if (place !== undefined) return { place, rows, memory };
    unfold(itemId);
  }
  return undefined;
}

/** When no row has moved for this number of frames, the rows around an item have their final height. */
const settled = 12;
/** The number of frames after which the scrolling is given up. */
const mostFrames = 60;
/** How long the item is marked, in ms. */
const highlightTime = 2_000;

function findElement(scroller: HTMLElement | null, key: string | undefined, itemId: string) {
  const item = scroller?.querySelector<HTMLElement>(`[data-item-id="${CSS.escape(itemId)}"]`);
  if (item || key === undefined) return item ?? null;
  return scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
}

/** Scrolls the element to the middle of the window. Returns whether it moved. */
function scrollToCentre(element: HTMLElement): boolean {
  const before = element.getBoundingClientRect().top;
  element.scrollIntoView({ block: 'center' });
  return Math.abs(element.getBoundingClientRect().top - before) >= 1;
}

function mark(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.dataset['found'] = 'true';
  setTimeout(() => delete element.dataset['found'], highlightTime);
}

function nextFrame(): Promise<unknown> {
  return new Promise(requestAnimationFrame);
}

/**
 * Marks the words of a search in an element on the page, removes earlier marks, and scrolls to the first word. The
 * element itself is not changed, because React owns it.
 */
function markFound(element: Element | null, query: string): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete(name);
  if (element === null || query.trim() === '') return;
  const ranges = rangesOf(element, query);
  if (ranges.length === 0) return;
  CSS.highlights.set(name, new Highlight(...ranges));
  const holder = ranges[0]?.startContainer.parentElement;
  const { top = 0, bottom = 0 } = ranges[0]?.getBoundingClientRect() ?? {};
  if (top < edge || bottom > innerHeight - edge) holder?.scrollIntoView({ block: 'center' });
}

function rangesOf(element: Element, query: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    let at = 0;
    for (const { text, found } of markWords(node.nodeValue ?? '', query)) {
      if (found) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + text.length);
        ranges.push(range);
      }
      at += text.length;
    }
  }
  return ranges;
}
