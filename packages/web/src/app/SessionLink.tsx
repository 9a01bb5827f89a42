import type { ComponentProps } from 'react';
import { useNavigation } from './navigation.tsx';
import { toPath } from './places.ts';

interface SessionLinkProps extends ComponentProps<'a'> {
  sessionId: string;
  onFollow?: (() => void) | undefined;
}

/** A link to a session: a real one, which can be opened in a window of its own. */
export function SessionLink({ sessionId, onFollow, children, ...rest }: SessionLinkProps) {
  const { open } = useNavigation();
  return (
    <a
      {...rest}
      href={toPath(sessionId)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        open(sessionId);
        onFollow?.();
      }}
    >
      {children}
    </a>
  );
}
