import { headOf } from '@liminal/protocol';
import type { ClipboardEvent } from 'react';
import { Button } from '../look/controls.tsx';
import { isSlowBlock, mostInLine, slowLettersToEdit } from '../look/text-pieces.ts';
import { count } from '../words/amounts.ts';
import css from './Composer.module.css';

/**
 * Returns the text that the field shows: the draft, or only its start, read-only, if laying out the whole draft would
 * freeze the page. `onPastedText` is called first with each pasted text, and returns whether the text is kept outside
 * the field.
 */
export function useLongDraft(
  draft: string,
  onDraft: (text: string) => void,
  onPastedText: (event: ClipboardEvent) => void,
) {
  const isCut = isSlowBlock(draft, slowLettersToEdit);
  const shown = isCut ? `${headOf(draft, mostInLine)} …` : draft;
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>) => {
    onPastedText(event);
    if (event.defaultPrevented) return;
    const { selectionStart, selectionEnd } = event.currentTarget;
    const pasted = event.clipboardData.getData('text/plain');
    const next = `${draft.slice(0, selectionStart)}${pasted}${draft.slice(selectionEnd)}`;
    // Set the draft here: otherwise the browser would lay out the whole pasted text before the page could cut it.
    if (isCut || pasted === '' || !isSlowBlock(next, slowLettersToEdit)) return;
    event.preventDefault();
    onDraft(next);
  };
  return { isCut, shown, onPaste };
}

export function LongDraftNote({ length, onClear }: { length: number; onClear: () => void }) {
  return (
    <p className={css.cut} role="status">
      {count(length, 'character')}: only the start is shown, but all of it is sent.
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </p>
  );
}
