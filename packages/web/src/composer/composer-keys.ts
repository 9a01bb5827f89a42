import type { ConfigOption } from '@liminal/protocol';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { cycledMode, nextChoice } from './config-options.ts';

/** Up in the first line of the draft goes to an earlier message, down in the last line to a later one. */
export function stepOf(
  { key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent,
  field: HTMLTextAreaElement | null,
): 'earlier' | 'later' | undefined {
  if (field === null || altKey || ctrlKey || metaKey || shiftKey) return undefined;
  const { value, selectionStart, selectionEnd } = field;
  if (key === 'ArrowUp' && !value.slice(0, selectionStart).includes('\n')) return 'earlier';
  if (key === 'ArrowDown' && !value.slice(selectionEnd).includes('\n')) return 'later';
  return undefined;
}

/** Replaces a backslash before the cursor by a line break, as the terminals do. Returns whether there was one. */
export function breakLineAtBackslash(field: HTMLTextAreaElement | null): boolean {
  if (field === null) return false;
  const { value, selectionStart: at, selectionEnd } = field;
  if (at !== selectionEnd || value[at - 1] !== '\\') return false;
  field.setRangeText('\n', at - 1, at, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  return true;
}

/** Two presses of Escape this close (ms) are one gesture. */
const twice = 1_000;

/** Returns a function that takes each key pressed, and returns whether it is the second of two presses of Escape. */
export function useDoubleEscape(): (event: KeyboardEvent) => boolean {
  const first = useRef<number>(undefined);
  return ({ key, timeStamp, repeat }) => {
    if (repeat) return false;
    const isEscape = key === 'Escape';
    const isSecond = isEscape && first.current !== undefined && timeStamp - first.current < twice;
    first.current = isEscape && !isSecond ? timeStamp : undefined;
    return isSecond;
  };
}

/**
 * Whether Shift+Tab moves the focus instead of changing the mode: after Escape, and while a person goes backwards through
 * the page by that key. Any other key in the field, and a click, end this.
 */
export function useLeavesByTab() {
  const leaves = useRef(false);
  const wentBack = useRef(false);
  useEffect(() => {
    const note = (event: Event) => {
      wentBack.current = event instanceof globalThis.KeyboardEvent && isBackTab(event);
    };
    window.addEventListener('keydown', note, { capture: true });
    window.addEventListener('pointerdown', note, { capture: true });
    return () => {
      window.removeEventListener('keydown', note, { capture: true });
      window.removeEventListener('pointerdown', note, { capture: true });
    };
  }, []);
  return {
    leaves: () => leaves.current,
    onFocus: () => void (leaves.current = wentBack.current),
    onPointerDown: () => void (leaves.current = false),
    onKey: ({ key }: KeyboardEvent) => {
      if (key === 'Tab' || key === 'Shift') return;
      leaves.current = key === 'Escape';
    },
  };
}

export function isBackTab(
  event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>,
): boolean {
  const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
  return key === 'Tab' && shiftKey && !altKey && !ctrlKey && !metaKey;
}

/** The agent's own report of a setting may come this much (ms) after the answer to the request. */
const settling = 500;

/**
 * The mode that Shift+Tab steps through. `options` are the session's, with the mode as it was chosen here, also before the
 * agent has confirmed it.
 */
export function useModeKey(
  given: readonly ConfigOption[],
  onConfig: (id: string, value: string) => Promise<void>,
) {
  const [wanted, setWanted] = useState<{ id: string; value: string; instead: string }>();
  const [said, setSaid] = useState('');
  const option = cycledMode(given);
  const isPending =
    wanted !== undefined && option?.id === wanted.id && wanted.instead === option.currentValue;
  const current = isPending ? wanted.value : option?.currentValue;
  const options = useMemo(
    () =>
      isPending
        ? given.map((one) => (one.id === wanted.id ? { ...one, currentValue: wanted.value } : one))
        : given,
    [given, isPending, wanted],
  );
  /** Returns whether there is a mode to step to. */
  const cycle = (): boolean => {
    if (option === undefined || current === undefined) return false;
    const next = nextChoice({ ...option, currentValue: current });
    if (next === undefined) return false;
    const mine = { id: option.id, value: next.value, instead: option.currentValue };
    setWanted(mine);
    setSaid(`${option.name}: ${next.name}`);
    void onConfig(option.id, next.value).then(() =>
      setTimeout(() => setWanted((now) => (now === mine ? undefined : now)), settling),
    );
    return true;
  };
  return { options, cycle, said };
}
