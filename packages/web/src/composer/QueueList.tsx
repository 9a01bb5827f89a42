import type { QueuedMessage } from '@liminal/protocol';
import { Clock, Pencil, X } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../look/controls.tsx';
import { useUnmentioned } from '../mentions/MentioningText.tsx';
import { Attachments } from '../transcript/Attachments.tsx';
import css from './QueueList.module.css';

interface QueueListProps {
  queue: readonly QueuedMessage[];
  onEdit: (turnId: string, message: string) => void;
  onRemove: (turnId: string) => void;
}

/** Messages that wait for their turn; each can still be edited or removed. */
export function QueueList({ queue, onEdit, onRemove }: QueueListProps) {
  if (queue.length === 0) return null;
  return (
    <ul className={css.queue} aria-label="Queued messages">
      {queue.map((queued) => (
        <Queued
          key={queued.turnId}
          queued={queued}
          onEdit={(message) => onEdit(queued.turnId, message)}
          onRemove={() => onRemove(queued.turnId)}
        />
      ))}
    </ul>
  );
}

interface QueuedProps {
  queued: QueuedMessage;
  onEdit: (message: string) => void;
  onRemove: () => void;
}

function Queued({ queued, onEdit, onRemove }: QueuedProps) {
  const [editing, setEditing] = useState(false);
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
            if (message !== undefined && message !== queued.message) onEdit(message);
          }}
        />
      </li>
    );
  }
  return (
    <li className={css.message} data-turn-id={queued.turnId} data-status={queued.state}>
      <Clock size={14} aria-hidden="true" />
      <Attachments blocks={others} look="small" />
      <span className={css.text}>{queued.message}</span>
      <span className={css.state}>{sending ? 'sending' : 'queued'}</span>
      {!sending && (
        <>
          <IconButton label="Edit queued message" onClick={() => setEditing(true)}>
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

interface EditorProps {
  message: string;
  /** What is attached to it says enough. */
  mayBeEmpty: boolean;
  /** Without a message: nothing is changed. */
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
        // It was asked for just now.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        rows={Math.min(6, text.split('\n').length)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Escape') onDone();
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
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
