import type { SessionStore, SessionView } from '@liminal/client';
import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { useLayer } from '../app/history.ts';
import { hasCommandKey } from '../app/keys.ts';
import { focusComposer } from '../composer/focus-composer.ts';
import { IconButton } from '../look/controls.tsx';
import { scrollToItem } from '../transcript/scroll-to-item.ts';
import css from './FindBar.module.css';
import { findText, rangesOf } from './find.ts';

interface FindProps {
  view: SessionView;
  session: SessionStore;
}

let openShown: () => void = () => undefined;

/** Opens the search in the session that is shown. */
export function openFind(): void {
  openShown();
}

/**
 * The search in a session, which Ctrl+F opens. The browser's own search, which a second Ctrl+F opens, cannot find rows
 * that are not in the page.
 */
export function Find(props: FindProps) {
  const [isOpen, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useLayer(isOpen, () => setOpen(false));
  useEffect(() => {
    const open = () => {
      setOpen(true);
      field.current?.select();
    };
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isChord = hasCommandKey(event) && !event.altKey && !event.shiftKey;
      if (!isChord || event.code !== 'KeyF' || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (document.activeElement === field.current && field.current !== null) return;
      event.preventDefault();
      open();
    };
    openShown = open;
    window.addEventListener('keydown', onKey);
    return () => {
      openShown = () => undefined;
      window.removeEventListener('keydown', onKey);
    };
  }, []);
  if (!isOpen) return null;
  const close = () => {
    setOpen(false);
    focusComposer();
  };
  return <FindBar {...props} field={field} onClose={close} />;
}

interface FindBarProps extends FindProps {
  field: RefObject<HTMLInputElement | null>;
  onClose: () => void;
}

function FindBar({ view, session, field, onClose }: FindBarProps) {
  const [text, setText] = useState('');
  const found = useMemo(() => findText(view.turns, text), [text, view.turns]);
  const [chosen, setChosen] = useState<string>();
  // The search starts at the newest match, because readers are usually at the end of a conversation.
  const index =
    chosen !== undefined && found.includes(chosen) ? found.indexOf(chosen) : found.length - 1;
  const current = found[index];
  const isLoading = useWholeHistory(view, session, text !== '');
  useMarks(view.sessionId, text, current);

  useEffect(() => {
    field.current?.focus();
  }, [field]);
  useEffect(() => {
    if (current === undefined) return undefined;
    // Scroll only after a pause in typing, because only the text at that time counts.
    const timer = setTimeout(
      () => void scrollToItem(view.sessionId, current, { takesFocus: false }),
      100,
    );
    return () => clearTimeout(timer);
  }, [current, view.sessionId]);

  const step = (by: 1 | -1) => setChosen(found.at((index + by) % found.length));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const isStep = event.key === 'Enter' && event.target === field.current;
    if (!isStep && event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    if (!isStep) onClose();
    else if (found.length > 0) step(event.shiftKey ? -1 : 1);
  };
  const count = found.length === 0 ? 'No matches' : `${index + 1} of ${found.length}`;
  return (
    // Keys bubble up from the controls inside.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <search className={css.bar} aria-label="Find in this session" onKeyDown={onKeyDown}>
      <input
        ref={field}
        type="search"
        aria-label="Find in this session"
        placeholder="Find in this session"
        enterKeyHint="search"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(undefined);
        }}
      />
      <span className={css.count} role="status">
        {text !== '' && count}
        {isLoading && ' · Loading older messages…'}
      </span>
      <IconButton
        label="Previous match"
        aria-disabled={found.length === 0}
        onClick={() => found.length > 0 && step(-1)}
      >
        <ChevronUp size={16} />
      </IconButton>
      <IconButton
        label="Next match"
        aria-disabled={found.length === 0}
        onClick={() => found.length > 0 && step(1)}
      >
        <ChevronDown size={16} />
      </IconButton>
      <IconButton label="Close search" onClick={onClose}>
        <X size={16} />
      </IconButton>
    </search>
  );
}

/** Loads all older pages while `isNeeded` is true. Returns whether some older pages are still missing. */
function useWholeHistory(
  { hasMore, before }: SessionView,
  session: SessionStore,
  isNeeded: boolean,
) {
  const [failedAt, setFailedAt] = useState<string>();
  const isLoading = isNeeded && hasMore && failedAt !== before;
  useEffect(() => {
    if (isLoading) session.loadOlder().catch(() => setFailedAt(before));
  }, [before, isLoading, session]);
  return isLoading;
}

/**
 * Highlights all matches that are on the page; those in the current item are highlighted more strongly. React's
 * elements are not changed.
 */
function useMarks(sessionId: string, text: string, current: string | undefined): void {
  useEffect(() => {
    const log = document.querySelector(
      `main[data-session-id="${CSS.escape(sessionId)}"] [role="log"]`,
    );
    if (log === null || !('highlights' in CSS)) return undefined;
    let frame = 0;
    const mark = () => {
      const item =
        current === undefined ? null : log.querySelector(`[data-item-id="${CSS.escape(current)}"]`);
      CSS.highlights.set('find', new Highlight(...rangesOf(log, text)));
      CSS.highlights.set(
        'find-current',
        new Highlight(...(item === null ? [] : rangesOf(item, text))),
      );
    };
    const changes = new MutationObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    });
    changes.observe(log, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      changes.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete('find');
      CSS.highlights.delete('find-current');
    };
  }, [current, sessionId, text]);
}
