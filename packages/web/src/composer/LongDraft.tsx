import { headOf } from '@liminal/protocol';
import type { ClipboardEvent } from 'react';
import { Button } from '../look/controls.tsx';
import { isSlowBlock, mostInLine, slowLettersToEdit } from '../look/text-pieces.ts';
import { count } from '../words/amounts.ts';
import css from './Composer.module.css';

/**
 * The part of a draft that the field shows: the start, without leave to edit, if all of it would stop the page. A paste goes to
 * `onPastedText` first, which may take it.
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
    // The browser would lay out all of it before the page can cut it.
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
