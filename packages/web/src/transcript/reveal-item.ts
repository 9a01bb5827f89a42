import type { ItemPlace } from './find-item.ts';

/** How long (ms) what was found stays marked. */
const marked = 2500;
/** Frames until what comes into sight for the first time has its height. */
const settling = 90;
/** So many frames in one place are a rest. */
const rest = 6;
/** Frames that are waited for a turn to be drawn. */
const patience = 180;

/**
 * Brings an item into sight: opens what it is folded into as a person would, scrolls to it, marks it for a moment and
 * puts the focus on it. What is not drawn by itself is shown by its call or its turn.
 */
export async function revealItem(page: HTMLElement, { turnId, path }: ItemPlace): Promise<void> {
  let shown = await untilDrawn(page, turnId);
  for (const itemId of path) {
    const element = elementOf(page, itemId);
    if (element === undefined) continue;
    shown = await openFold(page, element, itemId);
  }
  if (shown === null) return;
  await scrollTo(shown);
  shown.tabIndex = -1;
  shown.focus({ preventScroll: true });
  shown.dataset['found'] = 'true';
  setTimeout(() => delete shown?.dataset['found'], marked);
}

/** Older turns are drawn while the page can already be used. */
async function untilDrawn(page: HTMLElement, turnId: string): Promise<HTMLElement | null> {
  const find = () => page.querySelector<HTMLElement>(`[data-turn-id="${CSS.escape(turnId)}"]`);
  for (let frame = 0; find() === null && frame < patience; frame += 1) await nextFrame();
  return find();
}

/** An item that stands with others behind one line is that line until it is opened. */
function elementOf(page: HTMLElement, itemId: string): HTMLElement | undefined {
  const id = CSS.escape(itemId);
  const own = page.querySelector<HTMLElement>(`[data-item-id="${id}"]`);
  return own ?? page.querySelector<HTMLElement>(`[data-item-ids~="${id}"]`) ?? undefined;
}

/** Gives the item's own element, which may be there only once the fold is open. */
async function openFold(
  page: HTMLElement,
  element: HTMLElement,
  itemId: string,
): Promise<HTMLElement> {
  const head = element.querySelector<HTMLElement>('button[aria-expanded]');
  if (head?.ariaExpanded !== 'false') return element;
  head.click();
  await nextFrame();
  const own = elementOf(page, itemId) ?? element;
  return own === element ? element : openFold(page, own, itemId);
}

/** What is far away has no height yet but a guess: it is scrolled to until it stays where it is. */
async function scrollTo(element: HTMLElement): Promise<void> {
  let top = Number.NaN;
  let still = 0;
  for (let frame = 0; frame < settling && still < rest; frame += 1) {
    element.scrollIntoView({ block: 'center' });
    await nextFrame();
    const now = element.getBoundingClientRect().top;
    still = Math.abs(now - top) < 1 ? still + 1 : 0;
    top = now;
  }
}

async function nextFrame(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(resolve));
}
