import { markWords } from './mark-words.ts';

/** The highlight's name in the styles. */
const name = 'found';

/**
 * Marks the words of a search in an element on the page, removes earlier marks, and scrolls to the first word. The
 * element itself is not changed, because React owns it.
 */
export function markFound(element: Element | null, query: string): void {
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

/** The tabs and the composer may cover this much (px) at the window's edges. */
const edge = 160;

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
