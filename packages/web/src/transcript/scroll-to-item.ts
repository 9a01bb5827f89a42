import { type RefObject, useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { openName, type RowMemory } from './remembered.ts';
import { findItem, type TurnRow } from './window/turn-rows.ts';

type Show = (itemId: string) => Promise<void>;

/** Conversations in the page, by session, and items that somebody wants to see in one that is not there yet. */
const shown = new Map<string, Show>();
const wanted = new Map<string, string>();

/**
 * Scrolls a session's conversation to one of its items, which must be loaded, wherever it is: what hides it is opened,
 * and it is marked for a moment and gets the focus. Where the session is not in the page yet, that is done once it is.
 */
export async function scrollToItem(sessionId: string, itemId: string): Promise<void> {
  const show = shown.get(sessionId);
  if (show === undefined) wanted.set(sessionId, itemId);
  else await show(itemId);
}

interface Target {
  sessionId: string;
  rows: readonly TurnRow[];
  memory: RowMemory;
  draw: (index: number) => void;
  leaveEnd: () => void;
  scroller: RefObject<HTMLElement | null>;
}

/** Lets `scrollToItem` reach a conversation while it is in the page. */
export function useScrollTarget(target: Target): void {
  const latest = useRef(target);
  useEffect(() => {
    latest.current = target;
  });
  const { sessionId } = target;
  useEffect(() => {
    const show = (itemId: string) => showItem(() => latest.current, itemId);
    shown.set(sessionId, show);
    const wish = wanted.get(sessionId);
    wanted.delete(sessionId);
    if (wish !== undefined) void show(wish);
    return () => void shown.delete(sessionId);
  }, [sessionId]);
}

async function showItem(target: () => Target, itemId: string): Promise<void> {
  const found = await findRow(target, itemId);
  if (found === undefined) return;
  const { place, rows, memory } = found;
  for (const id of [...place.within, itemId]) memory.set(id, openName, true);
  const key = rows[place.index]?.key;
  let shownAs: HTMLElement | null = null;
  await nextFrame();
  // Without a frame until the first movement, in which a late scroll event could find the end again.
  target().leaveEnd();
  // What is around it is drawn frame by frame, and may turn out taller than it was thought to be.
  for (let frame = 0, still = 0; still < settled && frame < mostFrames; frame += 1) {
    shownAs = findElement(target().scroller.current, key, itemId);
    if (shownAs === null) {
      // At once: what is drawn and not scrolled to is taken away again in the next frame.
      flushSync(() => target().draw(place.index));
      shownAs = findElement(target().scroller.current, key, itemId);
    }
    still = shownAs !== null && !bringsIntoSight(shownAs) ? still + 1 : 0;
    await nextFrame();
  }
  if (shownAs !== null) mark(shownAs);
}

/** Waits until the conversation that holds it is drawn: what asks for an item may know of it first. */
async function findRow(target: () => Target, itemId: string) {
  for (let frame = 0; frame < mostFrames; frame += 1) {
    await nextFrame();
    const { rows, memory } = target();
    const place = findItem(rows, itemId);
    if (place !== undefined) return { place, rows, memory };
  }
  return undefined;
}

/** After so many frames in which it stayed where it is, what is around an item has its height. */
const settled = 12;
/** What does not come about in so many frames never will. */
const mostFrames = 60;
/** So long an item stands out that was scrolled to (ms). */
const standsOut = 2_000;

function findElement(scroller: HTMLElement | null, key: string | undefined, itemId: string) {
  const item = scroller?.querySelector<HTMLElement>(`[data-item-id="${CSS.escape(itemId)}"]`);
  if (item || key === undefined) return item ?? null;
  return scroller?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? null;
}

/** Whether the element had to be moved for it. */
function bringsIntoSight(element: HTMLElement): boolean {
  const before = element.getBoundingClientRect().top;
  element.scrollIntoView({ block: 'center' });
  return Math.abs(element.getBoundingClientRect().top - before) >= 1;
}

function mark(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  element.dataset['found'] = 'true';
  setTimeout(() => delete element.dataset['found'], standsOut);
}

function nextFrame(): Promise<unknown> {
  return new Promise(requestAnimationFrame);
}
