import { type PlanEntry, steeredItemId, itemText } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { attachedImages, inputText } from '../prompt.ts';
import { FileChanges } from './file-changes.ts';
import { noticeOf } from './notices.ts';
import { callOf, resultOf, type ToolItem } from './tools.ts';
import { type ItemOf, PlanStep, ThreadItem } from './wire.ts';

const compacting = 'The conversation so far is being summarised to make room.';
const compacted = 'The conversation so far was summarised to make room.';

const inBackground = 'It continues in the background.';

/** The separator between parts of reasoning. */
const between = '\n\n';

/** A subagent's task in the turn. The task's items are shown below the call that began the task. */
export interface TurnTask {
  threadId: string;
  callId: string | undefined;
}

/** A running command. */
export interface RunningCommand {
  itemId: string;
  /** Codex' id for the command's process. */
  processId: string;
  title: string | undefined;
  /** The time of the start in milliseconds since the epoch, if Codex reports it. */
  startedAtMs: number | null | undefined;
}

/**
 * The items of one thread in a turn. Codex gives each item an id, and reports the item's start, end and final content.
 * Codex also reports when it repeats a request to the model. Only then the open items of the first request are
 * withdrawn.
 */
export class ThreadItems {
  readonly #writer: TurnWriter;
  readonly #cwd: string;
  /** The task of this thread; undefined for the session's own thread. */
  readonly #task: TurnTask | undefined;
  /** The prefix of item ids: the turn's id, and for a task also the thread's id. */
  readonly #prefix: string;
  /** Started messages without text. Each started message is shown when its first text arrives. */
  readonly #announced = new Set<string>();
  /** For items with several parts, the part that is being written, by item. */
  readonly #parts = new Map<string, string>();
  /** The running commands, by item. */
  readonly #commands = new Map<string, RunningCommand>();
  #hasPlan = false;
  #notes = 0;
  /** Whether the message that began the turn, a person's first message in it, was read. */
  #hasFirstMessage = false;
  /** Ids of steered messages that are not shown as messages. */
  readonly #hidden = new Set<string>();
  readonly #changes: FileChanges;

  /** @param cwd - The session's folder. */
  constructor(writer: TurnWriter, cwd: string, task?: TurnTask) {
    this.#writer = writer;
    this.#cwd = cwd;
    this.#task = task;
    this.#prefix = `${writer.turnId}:${task === undefined ? '' : `${task.threadId}:`}`;
    this.#changes = new FileChanges(writer, { id: `${this.#prefix}changes`, ...this.#parent }, cwd);
  }

  get commands(): RunningCommand[] {
    return [...this.#commands.values()];
  }

  read(method: string, params: Record<string, unknown>): void {
    switch (method) {
      case 'item/agentMessage/delta':
      case 'item/plan/delta':
        return this.#grow(params);
      case 'item/reasoning/textDelta':
        return this.#grow(params, `text ${String(params['contentIndex'])}`);
      case 'item/reasoning/summaryTextDelta':
        return this.#grow(params, `summary ${String(params['summaryIndex'])}`);
      case 'item/commandExecution/outputDelta':
        return this.#print(params);
      case 'item/commandExecution/terminalInteraction':
        return this.#type(params);
      case 'item/fileChange/patchUpdated':
        return this.#patch(params);
      case 'item/started':
        return this.#start(params['item']);
      case 'item/completed':
        return this.#complete(params['item']);
      case 'turn/plan/updated':
        return this.#plan(params['plan']);
      case 'turn/diff/updated':
        return this.#changes.read(params['diff']);
      default:
        return this.#note(method, params);
    }
  }

  /** Records that a message that is about to be sent must not be shown as a message. */
  hide(messageId: string): void {
    this.#hidden.add(messageId);
  }

  /** Shows a stored item. */
  addStored(item: unknown): void {
    this.#start(item);
    this.#complete(item);
  }

  /**
   * Called when Codex repeats a request to the model. Withdraws open messages and reasoning. Running programs continue.
   */
  retry(): void {
    for (const id of this.#writer.open) {
      const item = this.#writer.item(id);
      const isText = item?.type === 'reasoning' || item?.type === 'message';
      if (isText && item.parentCallId === this.#task?.callId) this.#writer.cancel(id, 'retry');
    }
    this.#parts.clear();
    this.#announced.clear();
  }

  #note(method: string, params: Record<string, unknown>): void {
    const content = noticeOf(method, params);
    if (content !== undefined) this.#addNote(content);
  }

  #addNote(content: string): void {
    const id = `${this.#prefix}note-${this.#notes++}`;
    this.#writer.add({ type: 'message', id, content, origin: 'system', ...this.#parent });
  }

  /**
   * Shows why a task failed. If the session's own turn fails, the event that ends the turn contains the error instead.
   */
  fail(why: string): void {
    const item = { content: why, origin: 'system', ...this.#parent } as const;
    this.#writer.add({ type: 'message', id: `${this.#prefix}failure`, ...item });
  }

  /**
   * Ends the open items. If the turn has completed, an open call continues in the background; otherwise the call was
   * interrupted.
   */
  end(hasCompleted: boolean): void {
    if (this.#hasPlan) this.#writer.done(this.#planId);
    this.#changes.end();
    for (const id of this.#writer.open) {
      const item = this.#writer.item(id);
      if (item?.type !== 'function_call' || item.parentCallId !== this.#task?.callId) continue;
      this.#writer.done(id);
      this.#openOutput(id, item.callId);
      const shown = this.#writer.item(`${id}:output`);
      if (shown?.type !== 'function_call_output') continue;
      const output = hasCompleted ? shown.output || inBackground : shown.output;
      this.#writer.done(shown.id, { ...shown, output, success: hasCompleted });
    }
  }

  get #planId(): string {
    return `${this.#prefix}plan`;
  }

  get #parent(): { parentCallId?: string } {
    const callId = this.#task?.callId;
    return callId === undefined ? {} : { parentCallId: callId };
  }

  #id(itemId: unknown): string {
    return `${this.#prefix}${String(itemId)}`;
  }

  #start(value: unknown): void {
    const item = ThreadItem.safeParse(value).data;
    if (item === undefined) return;
    const id = this.#id(item.id);
    if (this.#writer.isOpen(id)) return;
    switch (item.type) {
      case 'userMessage':
      // Show nothing for a review: its text follows as a message.
      case 'enteredReviewMode':
      case 'exitedReviewMode':
        return;
      case 'agentMessage':
      case 'plan':
        this.#announced.add(id);
        return;
      case 'reasoning':
        return this.#open('reasoning', id, 'agent');
      case 'hookPrompt':
        return this.#open('message', id, 'system');
      case 'contextCompaction':
        this.#writer.start({ ...this.#compaction(id, ''), compaction: 'in_progress' });
        return this.#writer.append(id, compacting);
      default:
        this.#startCall(id, item);
    }
  }

  #compaction(id: string, content: string) {
    const compaction = 'completed' as const;
    return { type: 'message', id, content, origin: 'system', compaction, ...this.#parent } as const;
  }

  #open(type: 'message' | 'reasoning', id: string, origin: 'agent' | 'system'): void {
    this.#writer.start({ type, id, content: '', origin, ...this.#parent });
  }

  #startCall(id: string, item: ToolItem): void {
    if (item.type === 'fileChange') this.#noteTouched(item);
    const call = callOf(item, this.#cwd);
    const base = { id, callId: item.id, origin: 'agent', ...this.#parent } as const;
    this.#writer.start({ type: 'function_call', ...base, ...call });
    if (call.diffs !== undefined) this.#writer.patch(id, { diffs: call.diffs });
    if (item.type !== 'commandExecution' || item.processId == null) return;
    const { id: itemId, processId, startedAtMs } = item;
    this.#commands.set(itemId, { itemId, processId, title: call.title, startedAtMs });
  }

  #noteTouched({ changes }: ItemOf<'fileChange'>): void {
    for (const { path, kind } of changes) this.#changes.touch(kind.move_path ?? path);
  }

  #complete(value: unknown): void {
    const item = ThreadItem.safeParse(value).data;
    if (item === undefined) {
      if (value !== undefined) this.#writer.keep(value);
      return;
    }
    const id = this.#id(item.id);
    // Codex may not have reported the item's start.
    this.#start(value);
    switch (item.type) {
      case 'enteredReviewMode':
      case 'exitedReviewMode':
        return;
      case 'userMessage':
        return this.#readMessage(item);
      case 'agentMessage':
        return this.#finish('message', id, completeMessage(item, this.#textOf(id)), 'agent');
      case 'plan':
        return this.#finish('message', id, longer(this.#textOf(id), item.text), 'agent');
      case 'reasoning': {
        this.#parts.delete(id);
        const reasoning = withParts(this.#textOf(id), [...item.content, ...item.summary]);
        return this.#finish('reasoning', id, reasoning, 'agent');
      }
      case 'hookPrompt':
        return this.#finish(
          'message',
          id,
          item.fragments.map(({ text }) => text).join('\n'),
          'system',
        );
      case 'contextCompaction':
        return this.#writer.done(id, this.#compaction(id, compacted));
      default:
        this.#endCall(id, item);
    }
  }

  /** Ends a message or reasoning. An empty item is not shown. */
  #finish(
    type: 'message' | 'reasoning',
    id: string,
    content: string,
    origin: 'agent' | 'system',
  ): void {
    if (content === '') {
      this.#announced.delete(id);
      return this.#writer.cancel(id, 'empty');
    }
    this.#beginAnnounced(id);
    this.#writer.done(id, { type, id, content, origin, ...this.#parent });
  }

  #beginAnnounced(id: string): void {
    if (this.#announced.delete(id)) this.#open('message', id, 'agent');
  }

  #readMessage({ id, clientId, content }: ItemOf<'userMessage'>): void {
    const messageId = clientId ?? id;
    if (this.#hidden.has(messageId)) return;
    const isAmid =
      this.#hasFirstMessage || this.#writer.isOpen(steeredItemId(this.#writer.turnId, messageId));
    this.#hasFirstMessage = true;
    // Do not show the message to a task: the call that began the task already shows the message.
    if (!isAmid || this.#task !== undefined) return;
    this.#writer.steer(messageId, inputText(content), attachedImages(content));
    this.#writer.settle(messageId, 'taken');
  }

  /** Returns the text of an open item. */
  #textOf(id: string): string {
    const item = this.#writer.item(id);
    return item === undefined ? '' : itemText(item);
  }

  /** Appends text to an item. The parts of reasoning become paragraphs. */
  #grow({ itemId, delta }: Record<string, unknown>, part = ''): void {
    if (typeof delta !== 'string') return;
    const id = this.#id(itemId);
    this.#beginAnnounced(id);
    const before = this.#parts.get(id) ?? part;
    if (part !== '') this.#parts.set(id, part);
    this.#writer.append(id, part === before ? delta : `${between}${delta}`);
  }

  #print({ itemId, delta }: Record<string, unknown>): void {
    const id = this.#id(itemId);
    if (typeof delta !== 'string' || !this.#writer.isOpen(id)) return;
    this.#openOutput(id, String(itemId));
    this.#writer.append(`${id}:output`, delta);
  }

  /**
   * Shows input that the model sends to a running command. Empty input is not shown, because the model sends empty
   * input only to wait for output.
   */
  #type({ itemId, stdin }: Record<string, unknown>): void {
    if (typeof stdin !== 'string' || stdin === '') return;
    const title = this.#commands.get(String(itemId))?.title;
    const where = title === undefined ? 'a running command' : `“${title}”`;
    this.#addNote(`Typed into ${where}: \`${visible(stdin)}\``);
  }

  /** Shows the present state of a patch that the model is still writing. */
  #patch({ itemId, changes }: Record<string, unknown>): void {
    const id = this.#id(itemId);
    const item = ThreadItem.safeParse({ type: 'fileChange', id: itemId, changes }).data;
    if (item?.type !== 'fileChange' || !this.#writer.isOpen(id)) return;
    this.#noteTouched(item);
    const { diffs, title, locations } = callOf(item, this.#cwd);
    this.#writer.patch(id, {
      ...(diffs !== undefined && { diffs }),
      ...(title !== undefined && { title }),
      ...(locations !== undefined && { locations }),
    });
  }

  #openOutput(id: string, callId: string): void {
    const output = `${id}:output`;
    if (this.#writer.isOpen(output)) return;
    const empty = { output: '', success: true, origin: 'system' } as const;
    const base = { type: 'function_call_output', id: output, callId, ...this.#parent } as const;
    this.#writer.start({ ...base, ...empty });
  }

  #endCall(id: string, item: ToolItem): void {
    const callId = item.id;
    this.#commands.delete(callId);
    const call = callOf(item, this.#cwd);
    const base = { callId, ...this.#parent };
    this.#writer.done(id, { type: 'function_call', id, origin: 'agent', ...base, ...call });
    this.#openOutput(id, callId);
    const output = `${id}:output`;
    const shown = this.#writer.item(output);
    const result = resultOf(item);
    // Codex shortens very long output.
    const printed = shown?.type === 'function_call_output' ? shown.output : '';
    if (printed.length > result.output.length) result.output = printed;
    this.#writer.done(output, {
      type: 'function_call_output',
      id: output,
      origin: 'system',
      ...base,
      ...result,
    });
  }

  #plan(value: unknown): void {
    if (!Array.isArray(value)) return;
    const entries = value.flatMap((one): PlanEntry[] => {
      const step = PlanStep.safeParse(one).data;
      if (step === undefined) return [];
      const status = step.status === 'inProgress' ? 'in_progress' : step.status;
      return [{ content: step.step, priority: 'medium', status }];
    });
    if (this.#hasPlan) return this.#writer.patch(this.#planId, { entries });
    this.#hasPlan = true;
    this.#writer.start({ type: 'plan', id: this.#planId, entries, ...this.#parent });
  }
}

/** Returns a message with its questions and the memories that it cites. */
function completeMessage(
  { text, questions, memoryCitation }: ItemOf<'agentMessage'>,
  shown: string,
): string {
  const asked = (questions ?? []).map(({ title, options }) =>
    [`**${title}**`, ...(options ?? []).map((option) => `- ${option}`)].join('\n'),
  );
  const cited = (memoryCitation?.entries ?? []).map(({ path, lineStart, lineEnd, note }) => {
    const lines = lineStart == null ? '' : `:${lineStart}${lineEnd == null ? '' : `-${lineEnd}`}`;
    return `- \`${path}${lines}\`${note === '' ? '' : ` ${note}`}`;
  });
  const parts = [longer(shown, text), ...asked];
  if (cited.length > 0) parts.push(`From Codex’ memory:\n${cited.join('\n')}`);
  return parts.filter((part) => part !== '').join(between);
}

/** Returns typed keys in visible form: Enter is `⏎`, Ctrl+C is `^C`. */
function visible(typed: string): string {
  return typed
    .replaceAll(/\r\n|[\r\n]/g, '⏎')
    .replaceAll(/\p{Cc}/gu, (key) => `^${String.fromCharCode((key.charCodeAt(0) + 64) % 128)}`)
    .replaceAll('`', 'ˋ');
}

/** Returns the longer of two texts, because shown text is never shortened. */
const longer = (shown: string, text: string): string => (text.length < shown.length ? shown : text);

/** Returns the shown text, completed with the parts that the shown text lacks. */
function withParts(shown: string, parts: readonly string[]): string {
  const joined = parts.join(between);
  if (joined.includes(shown)) return joined;
  return [shown, ...parts.filter((part) => !shown.includes(part))].join(between);
}
