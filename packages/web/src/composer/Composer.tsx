import type { AgentCommand, SessionInfo } from '@liminal/protocol';
import { ArrowUp, CornerUpRight, Square } from 'lucide-react';
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { commandKey } from '../app/keys.ts';
import { isTouch } from '../app/typing.ts';
import { AttachButton } from '../attachments/AttachButton.tsx';
import { AttachedFiles } from '../attachments/AttachedFiles.tsx';
import type { Attachments } from '../attachments/use-attachments.ts';
import { type Completion, useCompletion } from '../completion/use-completion.ts';
import { MentionMenu } from '../mentions/MentionMenu.tsx';
import { useMentions } from '../mentions/use-mentions.ts';
import spoken from '../look/spoken.module.css';
import { CommandMenu } from './CommandMenu.tsx';
import { commandHint, commandPrefix, isNamed, matchCommands } from './command-matches.ts';
import css from './Composer.module.css';
import { useComposerKeys, useModeKey, type SendMode } from './composer-keys.ts';
import { ConfigSelects } from './ConfigSelects.tsx';
import type { Recall } from './use-earlier-messages.ts';
import { giveFocusBack } from './focus-composer.ts';
import { LongDraftNote, useLongDraft } from './LongDraft.tsx';
import { PastedTexts, usePasted } from './PastedTexts.tsx';
import { UsageMeter } from './UsageMeter.tsx';
import { type BarWidth, useBarWidth } from './use-bar-width.ts';

const none: readonly never[] = [];

interface ComposerProps {
  draft: string;
  onDraft: (text: string) => void;
  attachments: Attachments;
  sessionId: string;
  /** Sends the message, with its attachments. */
  onSend: (message: string) => void;
  /**
   * Sends the message into the running turn. Undefined if no turn runs, or if the agent accepts no messages during a
   * turn.
   */
  onSteer: ((message: string) => void) | undefined;
  onStop: () => void;
  onConfig: (id: string, value: string) => Promise<void>;
  /** Called when the person has chosen a file to mention. */
  onMention: (path: string) => void;
  info: SessionInfo | undefined;
  agentName: string;
  /**
   * Puts an earlier message into the field, where the person can edit it and send it again. Returns false if there is
   * no earlier message.
   */
  onRecall: Recall;
  /** Asks the person whether to take the last message back. */
  onTakeBack: () => void;
  running: boolean;
}

/**
 * The message field. Enter sends the message (while the agent is busy, Enter queues it, and Enter with the command key
 * steers). Shift+Enter begins a new line, and so does Enter after a backslash. On a phone, Enter begins a new line, and
 * the button sends. Shift+Tab changes the mode. Two presses of Escape in an empty field offer to take the last message
 * back.
 */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, attachments, onSend, onSteer, onConfig } = props;
  const { info, agentName, running } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const pasted = usePasted(props.sessionId);
  const { isCut, shown, onPaste } = useLongDraft(draft, onDraft, pasted.onPaste);
  const commands = useCommands(props);
  const mentions = useMentions({
    field,
    text: isCut ? '' : draft,
    onText: onDraft,
    folder: info?.session.projectDir,
    onMention: props.onMention,
  });
  const menu = commands.isOpen ? commands : mentions.completion;
  const mode = useModeKey(info?.configOptions ?? none, onConfig);
  const hasOptions = menu.isOpen && menu.matches.length > 0;
  const hintId = useId();
  const { bar, width } = useBarWidth();
  const hint = commandHint(info?.commands ?? [], draft);
  const hasWords = draft.trim() !== '' || pasted.texts.length > 0;
  const hasFiles = attachments.list.length + attachments.incoming.length > 0;
  /**
   * Whether the draft consists only of typed text. Otherwise, clearing the field would not remove attachments and
   * pasted texts.
   */
  const isBare = !hasFiles && pasted.texts.length === 0;
  const isEmpty = !hasWords && !hasFiles;
  const canSend = attachments.canSend && (hasWords || attachments.list.length > 0);
  /**
   * The send button that was pressed while files were still being read. The message is sent when the files are read.
   */
  const [pressed, setPressed] = useState<SendMode>();

  const send = (way: SendMode = 'send') => {
    setPressed(attachments.isReading ? way : undefined);
    if (!canSend) return;
    const give = way === 'steer' ? (onSteer ?? onSend) : onSend;
    give(pasted.take(draft.trim()));
    onDraft('');
    field.current?.focus();
  };
  // While a file that could not be read is listed, wait: the message is sent without that file only after the person
  // has removed it.
  const isDue = pressed !== undefined && attachments.incoming.length === 0;
  const sendDue = useEffectEvent(() => send(pressed));
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- the files have been read
    if (isDue) sendDue();
  }, [isDue]);
  const keys = useComposerKeys({
    ...props,
    field,
    menu,
    cycleMode: mode.cycle,
    isEmpty,
    canStep: isBare,
    send,
  });

  return (
    <form
      className={css.composer}
      aria-label="Composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {commands.isOpen && <CommandMenu completion={commands} />}
      {!commands.isOpen && mentions.completion.isOpen && <MentionMenu mentions={mentions} />}
      <AttachedFiles
        attachments={attachments}
        sendsWhenReady={pressed !== undefined}
        onRemove={() => setPressed(undefined)}
      />
      <PastedTexts pasted={pasted} draft={draft} onDraft={onDraft} />
      <div className={css.grow} data-text={`${shown}\n`}>
        {hint !== undefined && (
          <span id={hintId} className={css.hint}>
            <span aria-hidden="true">{shown}</span>
            {hint}
          </span>
        )}
        <textarea
          ref={field}
          data-composer
          className={css.text}
          aria-label="Message"
          placeholder={placeholderFor(agentName, info, width)}
          enterKeyHint={isTouch() ? 'enter' : 'send'}
          aria-describedby={hint === undefined ? undefined : hintId}
          rows={1}
          value={shown}
          readOnly={isCut}
          aria-autocomplete={hasOptions ? 'list' : undefined}
          aria-controls={hasOptions ? menu.id : undefined}
          aria-activedescendant={hasOptions ? `${menu.id}-${menu.active}` : undefined}
          onChange={(event) => {
            setPressed(undefined);
            if (isLoneBreak(draft, event.target.value)) return;
            onDraft(event.target.value);
            mentions.onInput(event);
          }}
          onPaste={onPaste}
          onSelect={mentions.onSelect}
          {...keys}
        />
      </div>
      {isCut && <LongDraftNote length={draft.length} onClear={() => onDraft('')} />}
      <div ref={bar} className={css.bar} data-width={width}>
        <AttachButton onFiles={(files) => addFiles(attachments, files)} />
        <ConfigSelects
          options={mode.options}
          width={width}
          isBusy={running}
          isLastKnown={info?.lastKnown === true}
          onChange={onConfig}
        />
        <Spoken text={mode.announcement} />
        <UsageMeter usage={info?.usage} />
        <Buttons
          {...props}
          isEmpty={isEmpty}
          canSend={canSend || attachments.isReading}
          send={send}
        />
      </div>
    </form>
  );
}

/**
 * Whether Enter was pressed in an empty field. With a keyboard, this Enter neither sends a message nor begins a new
 * line.
 */
function isLoneBreak(before: string, now: string): boolean {
  return before === '' && now === '\n' && !isTouch();
}

function addFiles(attachments: Attachments, files: Parameters<Attachments['add']>[0]): void {
  attachments.add(files);
  giveFocusBack();
}

/** Shows text for screen readers only. */
function Spoken({ text }: { text: string }) {
  return (
    <span className={spoken.only} role="status">
      {text}
    </span>
  );
}

interface ButtonsProps extends ComposerProps {
  isEmpty: boolean;
  canSend: boolean;
  send: (way: SendMode) => void;
}

/**
 * The buttons that stop the running turn, or send a message into the turn or after it. Each button has a fixed
 * position, so that typing the first letter moves no button.
 */
function Buttons(props: ButtonsProps) {
  const { running, onStop, onSteer, attachments, isEmpty, canSend, send } = props;
  return (
    <>
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
      {onSteer !== undefined && (
        <button
          type="button"
          className={css.steer}
          aria-label="Steer"
          title={`Steer: send it now (${commandKey('Enter')})`}
          disabled={isEmpty || !canSend}
          onClick={() => send('steer')}
        >
          <CornerUpRight size={15} aria-hidden="true" />
          <span>Steer</span>
        </button>
      )}
      <button
        type="submit"
        className={css.send}
        aria-label={running ? 'Queue message' : 'Send message'}
        title={sendTitle(running, attachments)}
        disabled={isEmpty || !canSend}
      >
        <ArrowUp size={16} strokeWidth={2.25} aria-hidden="true" />
      </button>
    </>
  );
}

function sendTitle(running: boolean, { list }: Attachments): string {
  if (list.some(({ problem }) => problem !== undefined)) return 'Remove what cannot be sent';
  return running ? 'Queue (Enter)' : 'Send (Enter)';
}

function placeholderFor(agentName: string, info: SessionInfo | undefined, width: BarWidth): string {
  if (width === 'tiny' || width === 'narrow') return `Message ${agentName}`;
  const hasCommands = info !== undefined && info.commands.length > 0;
  const offers = ['@ for files', ...(hasCommands ? ['/ for commands'] : [])];
  return `Message ${agentName}, ${offers.join(', ')}`;
}

/** Returns the menu of slash commands, which is open while the first word of the message is being typed. */
function useCommands({ draft, onDraft, info }: ComposerProps): Completion<AgentCommand> {
  const prefix = commandPrefix(draft);
  return useCompletion({
    matches: prefix === undefined ? [] : matchCommands(info?.commands ?? [], prefix),
    typed: prefix === undefined ? undefined : draft,
    onPick: ({ name }) => onDraft(`/${name} `),
    isWritten: (command) => prefix !== undefined && isNamed(command, prefix),
  });
}
