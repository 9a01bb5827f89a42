import { hasHidden } from '@liminal/protocol';
import { Fragment } from 'react';
import { ShownText } from '../look/ShownText.tsx';
import { classOf } from './colour-classes.ts';
import type { ColouredToken } from './coloured-lines.ts';
import { useHighlight } from './use-highlight.ts';

/** Code in the colours of its language, as soon as they have loaded. */
export function Code({ code, lang }: { code: string; lang: string }) {
  const lines = useHighlight(code, lang);
  if (lines === undefined) return <code>{code}</code>;
  return (
    <code>
      {lines.map((tokens, index) => (
        <Fragment key={index}>
          {index > 0 && '\n'}
          <ColouredLine tokens={tokens} />
        </Fragment>
      ))}
    </code>
  );
}

export function ColouredLine({ tokens }: { tokens: readonly ColouredToken[] }) {
  return tokens.map((token) => (
    <span key={token.offset} className={classOf(token.css)}>
      {hasHidden(token.content) ? <ShownText text={token.content} /> : token.content}
    </span>
  ));
}
