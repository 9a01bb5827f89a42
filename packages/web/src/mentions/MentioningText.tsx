import { type ContentBlock, linkedMentions } from '@liminal/protocol';
import { Fragment, type ReactNode } from 'react';
import { FileLink } from '../files/FileLink.tsx';
import { useFiles } from '../files/files.ts';
import { PiecedText } from '../look/PiecedText.tsx';

interface MentioningTextProps {
  text: string;
  blocks: readonly ContentBlock[] | undefined;
}

/** A person's words; the files that they mention open beside the conversation. */
export function MentioningText({ text, blocks = [] }: MentioningTextProps) {
  const { mentions } = linkedMentions(text, blocks, useFiles()?.folder);
  const parts: ReactNode[] = [];
  let done = 0;
  for (const { path, from, to } of mentions) {
    parts.push(<PiecedText text={text.slice(done, from)} />);
    const words = text.slice(from, to);
    // A folder has nothing to show.
    parts.push(path.endsWith('/') ? words : <FileLink target={{ path }}>{words}</FileLink>);
    done = to;
  }
  parts.push(<PiecedText text={text.slice(done)} />);
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

/** What is beside a person's words, less the files that they mention. */
export function useUnmentioned(
  text: string,
  blocks: readonly ContentBlock[] = [],
): readonly ContentBlock[] {
  return linkedMentions(text, blocks, useFiles()?.folder).others;
}
