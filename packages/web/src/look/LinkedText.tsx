import { type ComponentProps, Fragment } from 'react';
import { ShownText } from './ShownText.tsx';

interface LinkedTextProps extends ComponentProps<'p'> {
  text: string;
}

/** Shows text whose web addresses are links, without a paragraph around the text. */
export function Linked({ text }: { text: string }) {
  // The texts at odd indexes are addresses. Punctuation after an address belongs to the sentence.
  const parts = text.split(/(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,:;!?)\]}])/);
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      <Fragment key={index}>
        <ShownText text={part} />
      </Fragment>
    ) : (
      <a key={index} href={part} target="_blank" rel="noopener noreferrer">
        <ShownText text={part} />
      </a>
    ),
  );
}

/**
 * Shows plain text whose web addresses are links. Each address is shown completely, and its page opens beside the app.
 */
export function LinkedText({ text, ...rest }: LinkedTextProps) {
  return (
    <p {...rest}>
      <Linked text={text} />
    </p>
  );
}
