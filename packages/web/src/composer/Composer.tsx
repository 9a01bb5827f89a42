import type { SessionInfo } from '@liminal/protocol';
import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { AttachButton } from '../attachments/AttachButton.tsx';
import { AttachedFiles } from '../attachments/AttachedFiles.tsx';
import type { Attachments } from '../attachments/use-attachments.ts';
import { CommandMenu } from './CommandMenu.tsx';
import { commandHint, commandPrefix, matchCommands } from './command-matches.ts';
import css from './Composer.module.css';
import { ConfigSelects } from './ConfigSelects.tsx';
import { giveFocusBack } from './focus-composer.ts';
import { UsageMeter } from './UsageMeter.tsx';

interface ComposerProps {
  draft: string;
  onDraft: (text: string) => void;
  attachments: Attachments;
  /** Sends the message, with its attachments. */
  onSend: (message: string) => void;
  onStop: () => void;
  onConfig: (id: string, value: string) => Promise<void>;
  info: SessionInfo | undefined;
  agentName: string;
  /** Puts the last message back, to be edited and sent again; undefined if there is none. */
  onLast: (() => void) | undefined;
  running: boolean;
}

/** Where a person writes. Enter sends (or queues, while the agent is busy), Shift and Enter begin a new line. */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, attachments, onSend, onStop, info, agentName, running, onLast } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const commands = useCommands(props);
  const menuId = useId();
  const hint = commandHint(info?.commands ?? [], draft);
  const isEmpty =
    draft.trim() === '' && attachments.list.length + attachments.incoming.length === 0;
  const canSend = attachments.canSend && (draft.trim() !== '' || attachments.list.length > 0);

  const send = () => {
    if (!canSend) return;
    onSend(draft.trim());
    onDraft('');
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // An input method uses Enter to finish a word.
    if (event.nativeEvent.isComposing) return;
    if (commands.onKey(event)) return event.preventDefault();
    if (event.key === 'ArrowUp' && draft === '' && isEmpty && onLast !== undefined) {
      event.preventDefault();
      return onLast();
    }
    if (event.key !== 'Enter' || event.shiftKey || isEmpty) return;
    event.preventDefault();
    event.stopPropagation();
    send();
  };

  return (
    <form
      className={css.composer}
      aria-label="Composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {commands.open && (
        <CommandMenu
          id={menuId}
          commands={commands.matches}
          active={commands.active}
          onPick={commands.pick}
        />
      )}
      <AttachedFiles attachments={attachments} />
      <div className={css.grow} data-text={`${draft}\n`}>
        {hint !== undefined && (
          <span id={`${menuId}-hint`} className={css.hint}>
            <span aria-hidden="true">{draft}</span>
            {hint}
          </span>
        )}
        <textarea
          ref={field}
          data-composer
          className={css.text}
          aria-label="Message"
          placeholder={placeholderFor(agentName, info)}
          aria-describedby={hint === undefined ? undefined : `${menuId}-hint`}
          rows={1}
          value={draft}
          aria-autocomplete={commands.open ? 'list' : undefined}
          aria-controls={commands.open ? menuId : undefined}
          aria-activedescendant={commands.open ? `${menuId}-${commands.active}` : undefined}
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={css.bar}>
        <AttachButton
          onFiles={(files) => {
            attachments.add(files);
            giveFocusBack();
          }}
        />
        <ConfigSelects options={info?.configOptions ?? []} onChange={props.onConfig} />
        <UsageMeter usage={info?.usage} />
        {running && (
          <button
            type="button"
            className={css.stop}
            aria-label="Stop"
            title="Stop (Esc)"
            onClick={onStop}
          >
            <Square size={12} fill="currentColor" aria-hidden="true" />
          </button>
        )}
        {(!running || !isEmpty) && (
          <button
            type="submit"
            className={css.send}
            aria-label={running ? 'Queue message' : 'Send message'}
            title={sendTitle(running, attachments)}
            disabled={!canSend}
          >
            <ArrowUp size={16} strokeWidth={2.25} aria-hidden="true" />
          </button>
        )}
      </div>
    </form>
  );
}

function sendTitle(running: boolean, { list }: Attachments): string {
  if (list.some(({ problem }) => problem !== undefined)) return 'Take out what cannot be sent';
  return running ? 'Queue (Enter)' : 'Send (Enter)';
}

function placeholderFor(agentName: string, info: SessionInfo | undefined): string {
  const hasCommands = info !== undefined && info.commands.length > 0;
  return hasCommands ? `Message ${agentName}, or / for commands` : `Message ${agentName}`;
}

/** The menu of slash commands: open while the first word of the message is being typed. */
function useCommands({ draft, onDraft, info }: ComposerProps) {
  const [active, setActive] = useState(0);
  const [dismissed, setDismissed] = useState<string>();
  const prefix = commandPrefix(draft);
  const matches = prefix === undefined ? [] : matchCommands(info?.commands ?? [], prefix);
  const open = matches.length > 0 && dismissed !== draft;
  const index = Math.min(active, matches.length - 1);

  const pick = (command: { name: string }) => {
    onDraft(`/${command.name} `);
    setActive(0);
  };
  /** Whether the key was for the menu. */
  const onKey = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    const chosen = matches[index];
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp': {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        setActive((index + step + matches.length) % matches.length);
        return true;
      }
      case 'Enter':
      case 'Tab':
        if (event.shiftKey || chosen === undefined) return false;
        // A fully typed command is sent, not completed again.
        if (event.key === 'Enter' && chosen.name === prefix) return false;
        pick(chosen);
        return true;
      case 'Escape':
        setDismissed(draft);
        event.stopPropagation();
        return true;
      default:
        setActive(0);
        return false;
    }
  };
  return { open, matches, active: index, pick, onKey };
}
