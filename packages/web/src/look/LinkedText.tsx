import { type ComponentProps, Fragment } from 'react';
import { ShownText } from './ShownText.tsx';

interface LinkedTextProps extends ComponentProps<'p'> {
  text: string;
}

/** Text as it is, with the web addresses in it as links, which open beside the app and show in full. */
export function LinkedText({ text, ...rest }: LinkedTextProps) {
  // Every second part is an address; the point after it belongs to its sentence.
  const parts = text.split(/(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,:;!?)\]}])/);
  return (
    <p {...rest}>
      {parts.map((part, index) =>
        index % 2 === 0 ? (
          <Fragment key={index}>
            <ShownText text={part} />
          </Fragment>
        ) : (
          <a key={index} href={part} target="_blank" rel="noopener noreferrer">
            <ShownText text={part} />
          </a>
        ),
      )}
    </p>
  );
}
