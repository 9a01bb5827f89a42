import { ClipboardPaste, X } from 'lucide-react';
import { type ClipboardEvent, useMemo, useState } from 'react';
import { readTexts } from '../storage/read-texts.ts';
import { useDraft } from '../storage/drafts.ts';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import { PiecedText } from '../look/PiecedText.tsx';
import { focusComposer } from './focus-composer.ts';
import css from './PastedTexts.module.css';

/**
 * A pasted text of at least this many characters is kept outside the field, because in the field it would make typing
 * slow.
 */
const long = 4_000;

/** The long texts that were pasted into a message. They are sent unchanged, after the text of the field. */
export interface Pasted {
  texts: readonly string[];
  remove: (index: number) => void;
  /** Keeps the pasted text outside the field if it is long. */
  onPaste: (event: ClipboardEvent) => void;
  /** Returns the message with all pasted texts, and removes them. */
  take: (message: string) => string;
}

/** Returns the pasted texts of a session's draft, which are stored like the draft's text. */
export function usePasted(sessionId: string): Pasted {
  const [kept, keep] = useDraft(`${sessionId} pasted`);
  return useMemo(() => {
    const texts = readTexts(kept === '' ? null : kept);
    const set = (next: readonly string[]) => keep(next.length === 0 ? '' : JSON.stringify(next));
    return {
      texts,
      remove: (index) => set(texts.toSpliced(index, 1)),
      onPaste: (event) => {
        const text = event.clipboardData.getData('text/plain');
        if (text.length < long) return;
        event.preventDefault();
        set([...texts, text]);
      },
      take: (message) => {
        if (texts.length === 0) return message;
        set([]);
        return [message, ...texts].filter((text) => text !== '').join('\n\n');
      },
    };
  }, [kept, keep]);
}

interface PastedTextsProps {
  pasted: Pasted;
  /** The text in the field. */
  draft: string;
  onDraft: (text: string) => void;
}

/** Lists the pasted texts of the message. Each can be read, moved into the field, and removed. */
export function PastedTexts({ pasted, draft, onDraft }: PastedTextsProps) {
  const { texts, remove } = pasted;
  const [shown, show] = useState<number>();
  const text = shown === undefined ? undefined : texts[shown];
  if (texts.length === 0) return null;
  return (
    <ul className={css.pasted} aria-label="Pasted">
      {texts.map((one, index) => {
        const name = `Pasted ${amountOf(one)}`;
        return (
          <li key={index} className={css.chip}>
            <ClipboardPaste size={14} aria-hidden="true" />
            <span>{name}</span>
            <Button look="quiet" aria-label={`Show: ${name}`} onClick={() => show(index)}>
              Show
            </Button>
            <button
              type="button"
              className={css.remove}
              aria-label={`Remove: ${name}`}
              title="Remove"
              onClick={() => remove(index)}
            >
              <X size={14} aria-hidden="true" />
            </button>
          </li>
        );
      })}
      {shown !== undefined && text !== undefined && (
        <Dialog title={`Pasted ${amountOf(text)}`} onClose={() => show(undefined)}>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
          <div className={css.text} role="region" aria-label="Pasted text" tabIndex={0}>
            <PiecedText text={text} />
          </div>
          <div className={css.foot}>
            <Button
              onClick={() => {
                show(undefined);
                remove(shown);
                onDraft(draft === '' ? text : `${draft}\n\n${text}`);
                focusComposer();
              }}
            >
              Edit in the message
            </Button>
          </div>
        </Dialog>
      )}
    </ul>
  );
}

/**
 * Returns the length of a text as people read it, for example `3,000 lines`. A text of one line is counted in
 * characters.
 */
function amountOf(text: string): string {
  const lines = text.trimEnd().split('\n').length;
  const [amount, unit] = lines > 1 ? [lines, 'line'] : [text.length, 'character'];
  return `${amount.toLocaleString('en')} ${unit}${amount === 1 ? '' : 's'}`;
}
