import { mentionOf } from '@liminal/protocol';
import { type RefObject, type SyntheticEvent, useState } from 'react';
import { type PickedBy, type Completion, useCompletion } from '../completion/use-completion.ts';
import { mentionAt } from './mention-at.ts';
import { type FoundFile, type FoundFiles, useFoundFiles } from './use-found-files.ts';

interface MentionsOptions {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  /** The project's folder; undefined while it is not known. */
  folder: string | undefined;
  /** Called when a path is chosen. */
  onMention: (path: string) => void;
}

export interface Mentions {
  completion: Completion<FoundFile>;
  /** The newest result of a search; undefined until the first response. */
  found: FoundFiles | undefined;
  /** Must be called whenever the field's text changes or its caret moves. */
  onInput: (event: SyntheticEvent<HTMLTextAreaElement>) => void;
  onSelect: (event: SyntheticEvent<HTMLTextAreaElement>) => void;
}

/** Offers files while a mention is typed in a text field. */
export function useMentions(options: MentionsOptions): Mentions {
  const { field, text, onText, folder, onMention } = options;
  // Only typing begins a mention: moving the caret through the text opens no list.
  const [typed, setTyped] = useState<{ text: string; caret: number }>();
  const mention = typed?.text === text ? mentionAt(text, typed.caret) : undefined;
  const found = useFoundFiles(folder, mention);

  const choose = ({ path }: FoundFile, chosen: PickedBy) => {
    const { current } = field;
    if (current === null || mention === undefined) return;
    const entersFolder = path.endsWith('/') && chosen === 'Tab';
    const written = mentionOf(path);
    if (entersFolder) {
      current.setRangeText(written.replace(/"$/, ''), mention.from, mention.to, 'end');
    } else {
      const isSpaced = /^\s/.test(text.slice(mention.to));
      current.setRangeText(`${written}${isSpaced ? '' : ' '}`, mention.from, mention.to, 'end');
    }
    onMention(path);
    onText(current.value);
    setTyped(entersFolder ? caretState(current) : undefined);
  };
  const completion = useCompletion({
    matches: found === undefined ? [] : stillMatching(found, mention?.query ?? ''),
    typed: folder === undefined ? undefined : mention?.from,
    hasNote: true,
    onPick: choose,
  });
  return {
    completion,
    found: found?.query === mention?.query ? found : undefined,
    onInput: ({ currentTarget }) => setTyped(caretState(currentTarget)),
    onSelect: ({ currentTarget }) => {
      if (typed !== undefined && currentTarget.selectionEnd !== typed.caret) setTyped(undefined);
    },
  };
}

function caretState(field: HTMLTextAreaElement): { text: string; caret: number } {
  return { text: field.value, caret: field.selectionEnd };
}

/** Returns the files of the previous result whose paths contain the letters of the current query in the same order. */
function stillMatching({ query: before, files }: FoundFiles, query: string): readonly FoundFile[] {
  if (before === query) return files;
  const letters = query.toLowerCase().replaceAll(/\s/g, '');
  return files.filter(({ path }) => hasInOrder(path.toLowerCase(), letters));
}

function hasInOrder(path: string, letters: string): boolean {
  let at = -1;
  for (const letter of letters) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
