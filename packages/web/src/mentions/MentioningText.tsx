import { type ContentBlock, linkedMentions } from '@liminal/protocol';
import { Fragment, type ReactNode } from 'react';
import { FileLink } from '../files/FileLink.tsx';
import { useSessionFiles } from '../files/files.ts';
import { PiecedText } from '../look/PiecedText.tsx';

interface MentioningTextProps {
  text: string;
  blocks: readonly ContentBlock[] | undefined;
}

/** Shows a person's message. Each mentioned file is a link that opens the file beside the conversation. */
export function MentioningText({ text, blocks = [] }: MentioningTextProps) {
  const { mentions } = linkedMentions(text, blocks, useSessionFiles()?.folder);
  const parts: ReactNode[] = [];
  let done = 0;
  for (const { path, from, to } of mentions) {
    parts.push(<PiecedText text={text.slice(done, from)} />);
    const words = text.slice(from, to);
    // A folder is not a link, because the file pane cannot show it.
    parts.push(path.endsWith('/') ? words : <FileLink target={{ path }}>{words}</FileLink>);
    done = to;
  }
  parts.push(<PiecedText text={text.slice(done)} />);
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}

/** Returns the blocks of a message, without links to files that the message's text mentions. */
export function useUnmentioned(
  text: string,
  blocks: readonly ContentBlock[] = [],
): readonly ContentBlock[] {
  return linkedMentions(text, blocks, useSessionFiles()?.folder).others;
}
