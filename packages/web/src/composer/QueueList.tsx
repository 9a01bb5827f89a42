import { headOf } from '@liminal/protocol';
import type { QueuedMessage } from '@liminal/protocol';
import { ArrowDown, ArrowUp, Clock, Pause, Pencil, Play, X } from 'lucide-react';
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { altKey } from '../app/keys.ts';
import { isTouch } from '../app/typing.ts';
import { Button, IconButton } from '../look/controls.tsx';
import { useUnmentioned } from '../mentions/MentioningText.tsx';
import { Attachments } from '../transcript/Attachments.tsx';
import { focusComposer } from './focus-composer.ts';
import css from './QueueList.module.css';
import { isSlowBlock, mostInLine, slowLettersToEdit } from '../look/text-pieces.ts';

interface QueueListProps {
  queue: readonly QueuedMessage[];
  onEdit: (turnId: string, message: string) => void;
  onRemove: (turnId: string) => void;
  /** Moves a message before another message, or, without `before`, to the end. */
  onMove: (turnId: string, before?: string) => void;
  /** Steers the message into the running turn, or, if the agent cannot be steered, makes it the next message. */
  onNow: (turnId: string) => void;
  /** Whether the agent accepts messages during a turn. */
  canSteer: boolean;
  /** Whether a person has stopped a turn: no message is sent until the person resumes the queue. */
  isPaused: boolean;
  onResume: () => void;
}

/** The list of queued messages. Each message can be edited, moved, sent at once or removed. */
export function QueueList(props: QueueListProps) {
  const { queue, onEdit, onRemove, onMove, onNow, canSteer, isPaused, onResume } = props;
  const keepFocus = useRestoredFocus(queue);
  const move = (turnId: string, before: string | undefined) => {
    keepFocus();
    onMove(turnId, before);
  };
  if (queue.length === 0) return null;
  const free = queue.filter(({ state }) => state === 'queued');
  return (
    <>
      {isPaused && <Paused onResume={onResume} />}
      <ul className={css.queue} aria-label="Queued messages">
        {queue.map((queued) => {
          const { turnId } = queued;
          const place = free.indexOf(queued);
          const [previous, afterNext] = [free[place - 1], free[place + 2]];
          const isLast = place === free.length - 1;
          return (
            <Queued
              key={turnId}
              queued={queued}
              onEdit={(message) => onEdit(turnId, message)}
              onRemove={() => onRemove(turnId)}
              onUp={previous && (() => move(turnId, previous.turnId))}
              onDown={isLast ? undefined : () => move(turnId, afterNext?.turnId)}
              onNow={canSteer || isPaused || place > 0 ? () => onNow(turnId) : undefined}
              now={nowWords(canSteer, isPaused)}
            />
          );
        })}
      </ul>
    </>
  );
}

/** The texts of a button: its label and its tooltip. */
interface Words {
  label: string;
  title: string;
}

function nowWords(canSteer: boolean, isPaused: boolean): Words {
  if (canSteer) return { label: 'Send now', title: 'Steer: send it now' };
  if (isPaused) return { label: 'Send now', title: 'Send it now, then the others' };
  return { label: 'Move to front', title: 'Send it next' };
}

/** Reports that the queue is paused, with a button that resumes the queue. */
function Paused({ onResume }: { onResume: () => void }) {
  return (
    <div className={css.paused} role="status">
      <Pause size={14} aria-hidden="true" />
      <span>Queue paused</span>
      <Button
        look="quiet"
        className={css.now}
        title="Send the messages in the queue"
        onClick={() => {
          onResume();
          focusComposer();
        }}
      >
        <Play size={13} aria-hidden="true" />
        Resume
      </Button>
    </div>
  );
}

/**
 * Returns a function that must be called before a message is moved. After the queue has changed, the same control is
 * focused again, because a control that moves loses the focus.
 */
function useRestoredFocus(queue: readonly QueuedMessage[]): () => void {
  const focused = useRef<Element>(null);
  useLayoutEffect(() => {
    const { current } = focused;
    focused.current = null;
    if (current instanceof HTMLElement && document.activeElement === document.body) current.focus();
  }, [queue]);
  return () => {
    focused.current = document.activeElement;
  };
}

interface QueuedProps {
  queued: QueuedMessage;
  onEdit: (message: string) => void;
  onRemove: () => void;
  /** Moves the message up; undefined if it is the first. */
  onUp: (() => void) | undefined;
  /** Moves the message down; undefined if it is the last. */
  onDown: (() => void) | undefined;
  /** Sends the message next; undefined if the message is already the next. */
  onNow: (() => void) | undefined;
  now: Words;
}

function Queued({ queued, onEdit, onRemove, onUp, onDown, onNow, now }: QueuedProps) {
  const [editing, setEditing] = useState(false);
  const [edited, setEdited] = useState(false);
  const others = useUnmentioned(queued.message, queued.blocks);
  const sending = queued.state === 'sending';
  if (editing && !sending) {
    return (
      <li className={css.message} data-turn-id={queued.turnId} data-status={queued.state}>
        <Editor
          message={queued.message}
          mayBeEmpty={others.length > 0}
          onDone={(message) => {
            setEditing(false);
            setEdited(true);
            if (message !== undefined && message !== queued.message) onEdit(message);
          }}
        />
      </li>
    );
  }
  return (
    // Keys bubble up from the buttons inside.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <li
      className={css.message}
      data-turn-id={queued.turnId}
      data-status={queued.state}
      onKeyDown={(event) => {
        const move = sending ? undefined : moveBy(event, { onUp, onDown });
        if (move === undefined) return;
        event.preventDefault();
        move();
      }}
    >
      <Clock size={14} aria-hidden="true" />
      <Attachments blocks={others} look="small" />
      <span className={css.text}>{headOf(queued.message, mostInLine)}</span>
      <span className={css.state}>{sending ? 'sending' : 'queued'}</span>
      {!sending && (
        <>
          {onNow !== undefined && (
            <Button look="quiet" className={css.now} title={now.title} onClick={onNow}>
              {now.label}
            </Button>
          )}
          {(onUp ?? onDown) !== undefined && (
            <>
              <IconButton
                label="Move up"
                title={`Move up (${altKey('↑')})`}
                aria-disabled={onUp === undefined}
                onClick={onUp}
              >
                <ArrowUp size={14} />
              </IconButton>
              <IconButton
                label="Move down"
                title={`Move down (${altKey('↓')})`}
                aria-disabled={onDown === undefined}
                onClick={onDown}
              >
                <ArrowDown size={14} />
              </IconButton>
            </>
          )}
          <IconButton
            label="Edit queued message"
            // The editor, which had the focus, has just been closed.
            // oxlint-disable-next-line jsx-a11y/no-autofocus
            autoFocus={edited}
            onFocus={() => setEdited(false)}
            disabled={isSlowBlock(queued.message, slowLettersToEdit)}
            onClick={() => setEditing(true)}
          >
            <Pencil size={14} />
          </IconButton>
          <IconButton label="Remove queued message" onClick={onRemove}>
            <X size={15} />
          </IconButton>
        </>
      )}
    </li>
  );
}

/** Returns the function that moves a message when Alt and an arrow key are pressed; undefined for any other key. */
function moveBy(
  { altKey: isAlt, ctrlKey, metaKey, key }: KeyboardEvent,
  { onUp, onDown }: Pick<QueuedProps, 'onUp' | 'onDown'>,
): (() => void) | undefined {
  if (!isAlt || ctrlKey || metaKey) return undefined;
  if (key === 'ArrowUp') return onUp;
  return key === 'ArrowDown' ? onDown : undefined;
}

interface EditorProps {
  message: string;
  /** Whether the message may have no text, because it has attachments. */
  mayBeEmpty: boolean;
  /** Called with the changed message, or without an argument if nothing has changed. */
  onDone: (message?: string) => void;
}

function Editor({ message, mayBeEmpty, onDone }: EditorProps) {
  const [text, setText] = useState(message);
  return (
    <form
      className={css.editor}
      onSubmit={(event) => {
        event.preventDefault();
        onDone(text.trim() === '' && !mayBeEmpty ? undefined : text.trim());
      }}
    >
      <textarea
        aria-label="Queued message"
        // The person has just asked to edit.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        rows={Math.min(6, text.split('\n').length)}
        enterKeyHint={isTouch() ? 'enter' : 'done'}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Escape') onDone();
          if (event.key === 'Enter' && !event.shiftKey && !isTouch()) {
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
      <Button look="quiet" onClick={() => onDone()}>
        Cancel
      </Button>
      <Button type="submit">Save</Button>
    </form>
  );
}
