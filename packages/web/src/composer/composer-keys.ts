import type { ConfigOption } from '@liminal/protocol';
import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { hasCommandKey } from '../app/keys.ts';
import { isTouch } from '../app/typing.ts';
import type { Completion } from '../completion/use-completion.ts';
import { cycledMode, nextChoice } from './config-options.ts';
import type { Recall } from './use-earlier-messages.ts';

/** Whether a message is sent after the running turn (`send`) or into it (`steer`). */
export type SendMode = 'send' | 'steer';

interface ComposerKeys {
  field: RefObject<HTMLTextAreaElement | null>;
  /** The menu; while it is open, it handles keys before the field does. */
  menu: Pick<Completion<unknown>, 'onKey'>;
  cycleMode: () => boolean;
  isEmpty: boolean;
  /** Whether the arrow keys may step through earlier messages. */
  canStep: boolean;
  running: boolean;
  onRecall: Recall;
  onTakeBack: () => void;
  send: (way: SendMode) => void;
}

/** Returns the listeners of the message field. */
export function useComposerKeys(keys: ComposerKeys) {
  const { field, menu, cycleMode, isEmpty, canStep, running, onRecall, onTakeBack, send } = keys;
  const tab = useLeavesByTab();
  const isSecondEscape = useDoubleEscape({ isEmpty, running });
  const onKeyDown = (event: KeyboardEvent) => {
    if (menu.onKey(event)) return event.preventDefault();
    tab.onKey(event);
    if (isBackTab(event) && !tab.leaves() && cycleMode()) return event.preventDefault();
    if (isSecondEscape(event)) {
      // Stop the event: otherwise this key press would also close the dialog that opens.
      event.preventDefault();
      return onTakeBack();
    }
    const step = canStep ? stepOf(event, field.current) : undefined;
    if (step !== undefined && onRecall(step)) return event.preventDefault();
    if (event.key !== 'Enter') return;
    const isCommand = hasCommandKey(event.nativeEvent);
    // On a phone, Enter begins a new line, so it must not answer the docked request.
    if (isTouch() && !isCommand) return event.stopPropagation();
    if (event.shiftKey || isEmpty) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isCommand && breakLineAtBackslash(field.current)) return;
    send(isCommand ? 'steer' : 'send');
  };
  return { onKeyDown, onFocus: tab.onFocus, onPointerDown: tab.onPointerDown };
}

/**
 * Returns the step through earlier messages that a key makes: arrow up in the first line of the draft recalls an
 * earlier message, and arrow down in the last line a later message.
 */
function stepOf(
  { key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent,
  field: HTMLTextAreaElement | null,
): 'earlier' | 'later' | undefined {
  if (field === null || altKey || ctrlKey || metaKey || shiftKey) return undefined;
  const { value, selectionStart, selectionEnd } = field;
  if (key === 'ArrowUp' && !value.slice(0, selectionStart).includes('\n')) return 'earlier';
  if (key === 'ArrowDown' && !value.slice(selectionEnd).includes('\n')) return 'later';
  return undefined;
}

/**
 * Replaces a backslash before the cursor by a line break, as the agents' terminals do. Returns whether such a backslash
 * was there.
 */
function breakLineAtBackslash(field: HTMLTextAreaElement | null): boolean {
  if (field === null) return false;
  const { value, selectionStart: at, selectionEnd } = field;
  if (at !== selectionEnd || value[at - 1] !== '\\') return false;
  field.setRangeText('\n', at - 1, at, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  return true;
}

/** Two presses of Escape within this time count as one double press, in ms. */
const twice = 1_000;

/** A press of Escape within this time after a turn ended was meant to stop the turn or to reject its request, in ms. */
const tooSoon = 400;

/**
 * Returns a function to call with each key event. The function returns whether the key is the second of two presses of
 * Escape. Only presses without another effect count: presses in an empty field while no turn runs.
 */
function useDoubleEscape({
  isEmpty,
  running,
}: Pick<ComposerKeys, 'isEmpty' | 'running'>): (event: KeyboardEvent) => boolean {
  const first = useRef<number>(undefined);
  const endedAt = useRef(-Infinity);
  useEffect(() => {
    if (!running) return undefined;
    return () => void (endedAt.current = performance.now());
  }, [running]);
  return ({ key, timeStamp, repeat }) => {
    if (repeat) return false;
    const counts =
      key === 'Escape' && isEmpty && !running && timeStamp - endedAt.current >= tooSoon;
    const isSecond = counts && first.current !== undefined && timeStamp - first.current < twice;
    first.current = counts && !isSecond ? timeStamp : undefined;
    return isSecond;
  };
}

/**
 * Whether Shift+Tab moves the focus instead of changing the mode: after Escape, and while a person moves backwards
 * through the page with Shift+Tab. After any other key in the field, or a click, Shift+Tab changes the mode again.
 */
function useLeavesByTab() {
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

function isBackTab(
  event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'altKey' | 'ctrlKey' | 'metaKey'>,
): boolean {
  const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
  return key === 'Tab' && shiftKey && !altKey && !ctrlKey && !metaKey;
}

/** The agent may report the new setting up to this long after the response to the request, in ms. */
const settling = 500;

/**
 * Returns the mode that Shift+Tab changes. `options` are the session's options. A mode that is chosen here is shown
 * before the agent confirms it.
 */
export function useModeKey(
  given: readonly ConfigOption[],
  onConfig: (id: string, value: string) => Promise<void>,
) {
  const [wanted, setWanted] = useState<{ id: string; value: string; instead: string }>();
  const [announcement, setAnnouncement] = useState('');
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
  /** Sets the next mode; returns false if there is no other mode. */
  const cycle = (): boolean => {
    if (option === undefined || current === undefined) return false;
    const next = nextChoice({ ...option, currentValue: current });
    if (next === undefined) return false;
    const change = { id: option.id, value: next.value, instead: option.currentValue };
    setWanted(change);
    setAnnouncement(`${option.name}: ${next.name}`);
    void onConfig(option.id, next.value).then(() =>
      setTimeout(() => setWanted((now) => (now === change ? undefined : now)), settling),
    );
    return true;
  };
  return { options, cycle, announcement };
}
