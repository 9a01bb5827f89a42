import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { Update } from '../acp-fold.ts';

type SessionUpdateOf<Kind extends SessionUpdate['sessionUpdate']> = Extract<
  SessionUpdate,
  { sessionUpdate: Kind }
>;

interface SeenMessage {
  kind: string;
  text: string;
  blocks: unknown[];
  about: Record<string, unknown>;
}

/** The state that a client shows: a fold of the updates, by the rules of ACP and of `_meta.liminal`. */
export class ClientState {
  readonly messages = new Map<string, SeenMessage>();
  readonly calls = new Map<string, Record<string, unknown>>();
  readonly terminals = new Map<string, { text: string; exit?: unknown }>();
  readonly compactions = new Map<string, unknown>();
  readonly questions = new Set<string>();
  /** The messages that were replaced because their whole text was sent again. */
  readonly #wholes = new Set<string>();
  plan: unknown = [];
  usage: unknown;

  constructor(updates: readonly Update[]) {
    for (const one of updates) this.apply(one);
  }

  apply(update: Update): void {
    if (update.kind === 'question') this.questions.add(update.approval.approvalId);
    else if (update.kind === 'answered') this.questions.delete(update.approvalId);
    else this.#read(update.update);
  }

  #read(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
      case 'agent_message_chunk':
      case 'agent_thought_chunk':
        return this.#applyText(update);
      case 'tool_call':
        this.calls.set(update.toolCallId, { ...update, _meta: parentIn(update) });
        return this.#print(update._meta ?? {});
      case 'tool_call_update':
        return this.#change(update);
      case 'plan':
        this.plan = update.entries;
        return;
      case 'usage_update':
        this.usage = update;
        return;
      case 'compaction_update':
        this.compactions.set(update.compactionId, update);
        return;
      default:
    }
  }

  #applyText(
    update: SessionUpdateOf<'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'>,
  ): void {
    const { sessionUpdate: kind, content, messageId, _meta: meta } = update;
    if (messageId == null) throw new Error('The message has no id.');
    const { withdrawn, replaces, ...about } = ownIn(meta);
    if (withdrawn === true) {
      this.messages.delete(messageId);
      this.messages.delete(messageId.replace(/:whole$/, ''));
      return;
    }
    const id = typeof replaces === 'string' ? replaces : messageId;
    const isAnew = messageId !== id && !this.#wholes.has(id);
    if (messageId !== id) this.#wholes.add(id);
    const known = isAnew ? undefined : this.messages.get(id);
    const seen = known ?? { kind, text: '', blocks: [], about: {} };
    if (content.type === 'text') seen.text += content.text;
    else seen.blocks.push(content);
    Object.assign(seen.about, about);
    this.messages.set(id, seen);
  }

  #change(update: SessionUpdateOf<'tool_call_update'>): void {
    const { sessionUpdate: _, toolCallId, ...change } = update;
    const known = this.calls.get(toolCallId);
    if (known === undefined) throw new Error(`The call ${toolCallId} was not announced.`);
    const { rawOutput, _meta: meta, ...fields } = change;
    this.#print(meta ?? {});
    if (codeIn(rawOutput) === 'WITHDRAWN') this.calls.delete(toolCallId);
    else Object.assign(known, fields, rawOutput !== undefined && { rawOutput });
  }

  #print({
    terminal_info: info,
    terminal_output: output,
    terminal_exit: exit,
  }: Record<string, unknown>) {
    if (isRecord(info)) this.terminals.set(String(info['terminal_id']), { text: '' });
    for (const one of [output, exit]) {
      if (!isRecord(one)) continue;
      const terminal = this.terminals.get(String(one['terminal_id']));
      if (terminal === undefined) throw new Error('The terminal was not announced.');
      if (one === output) terminal.text += String(one['data']);
      else terminal.exit = one['exit_code'];
    }
  }

  /**
   * Returns the whole state as plain values, sorted, because a client that attaches late gets the updates in another
   * order.
   */
  get seen() {
    const calls = sorted(this.calls).map(([id, call]) => {
      const { sessionUpdate: _, content, ...rest } = call;
      return [id, rest, this.#shown(content as ToolCallContent[] | undefined)];
    });
    // A message without content is not shown.
    const messages = sorted(this.messages).filter(
      ([, { text, blocks, about }]) => text !== '' || blocks.length > 0 || 'error' in about,
    );
    const { plan, usage, questions } = this;
    const compactions = sorted(this.compactions);
    return { messages, calls, plan, usage, compactions, questions: [...questions].toSorted() };
  }

  /**
   * Returns the content of a call. Output in terminals is included as text, because output may be sent in both forms.
   */
  #shown(content: readonly ToolCallContent[] = []): unknown[] {
    return content.flatMap((one): unknown[] => {
      if (one.type !== 'terminal') return [one];
      const text = this.terminals.get(one.terminalId)?.text ?? '';
      return text === '' ? [] : [{ type: 'content', content: { type: 'text', text } }];
    });
  }
}

const sorted = <V>(map: ReadonlyMap<string, V>): [string, V][] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function ownIn(meta: unknown): Record<string, unknown> {
  const own = isRecord(meta) ? meta['liminal'] : undefined;
  return isRecord(own) ? own : {};
}

const parentIn = ({ _meta: meta }: { _meta?: unknown }): unknown => ownIn(meta)['parentToolCallId'];

function codeIn(rawOutput: unknown): unknown {
  const error = isRecord(rawOutput) ? rawOutput['error'] : undefined;
  return isRecord(error) ? error['code'] : undefined;
}
