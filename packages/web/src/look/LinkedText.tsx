import { type ComponentProps, Fragment } from 'react';
import { ShownText } from './ShownText.tsx';

interface LinkedTextProps extends ComponentProps<'p'> {
  text: string;
}

/** Text whose web addresses are links, without a paragraph around it. */
export function Linked({ text }: { text: string }) {
  // The parts at odd indexes are addresses; punctuation after an address belongs to the sentence.
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

/** Plain text whose web addresses are links, shown in full, which open beside the app. */
export function LinkedText({ text, ...rest }: LinkedTextProps) {
  return (
    <p {...rest}>
      <Linked text={text} />
    </p>
  );
}
