/**
 * What an ACP client is told of a run: a fold of its events. ACP's messages only grow and its calls are only replaced, so
 * each step tells the difference between the run as it was told and as it is now. The same difference brings a client up
 * to date that has missed events (`foldSnapshot`), or that has seen nothing yet.
 */
import type * as Acp from '@agentclientprotocol/sdk';
import {
  changedBy,
  currentItems,
  emptyResponse,
  type ErrorObject,
  foldResponse,
  type OutputItem,
  PersistentMap,
  type Response,
  resumeResponse,
  type ResponseState,
  type StreamEvent,
  textOf,
  type Usage,
} from '@liminal/protocol';
import { blockOf, textBlock } from './content.ts';
import {
  announced,
  type CallItem,
  changed,
  cutOff,
  ended,
  type OutputOf,
  shown,
} from './tool-calls.ts';

/** What a client can show besides what every client can. */
export interface Shows {
  notices: boolean;
}

export type ApprovalItem = Extract<OutputItem, { type: 'approval' }>;

/** A notification, a question for people, or that it is answered. */
export type Told =
  | { kind: 'update'; update: Acp.SessionUpdate }
  /** `toolCallId` is the call that it is about, if the client was told of it. */
  | { kind: 'question'; approval: ApprovalItem; toolCallId: string | undefined }
  | { kind: 'answered'; approvalId: string };

export interface RunFoldState {
  readonly response: ResponseState;
  /** Calls that have not ended, by `callId`; scripts by their item's id. */
  readonly calls: PersistentMap<CallItem>;
  /** Every call's item, by `callId`. */
  readonly callIds: PersistentMap<string>;
  /** How much of an open output was told, in characters. */
  readonly outputs: PersistentMap<number>;
}

export interface RunFold {
  readonly state: RunFoldState;
  readonly told: readonly Told[];
}

export function startRunFold(): RunFoldState {
  return {
    response: emptyResponse(),
    calls: PersistentMap.empty(),
    callIds: PersistentMap.empty(),
    outputs: PersistentMap.empty(),
  };
}

/** One event. `isOwn`: the client itself has sent the turn's message, and shows it already. */
export function foldRun(
  state: RunFoldState,
  event: StreamEvent,
  shows: Shows,
  isOwn: boolean,
): RunFold {
  const response = foldResponse(state.response, event);
  if (response === state.response) return { state, told: [] };
  return tell(state, response, changedBy(event.payload), shows, isOwn);
}

/** The run as it is, for a client that was told of it up to `state`. */
export function foldSnapshot(
  state: RunFoldState,
  snapshot: Response,
  shows: Shows,
  isOwn: boolean,
): RunFold {
  const response = resumeResponse(snapshot);
  if (response.lastSeq <= state.response.lastSeq) return { state, told: [] };
  const ids = new Set([...state.response.items.byId.keys(), ...response.items.byId.keys()]);
  return tell(state, response, ids, shows, isOwn);
}

function tell(
  before: RunFoldState,
  response: ResponseState,
  ids: Iterable<string>,
  shows: Shows,
  isOwn: boolean,
): RunFold {
  const teller = new Teller(before, response, shows, isOwn);
  for (const id of ids) if (!response.items.byId.has(id)) teller.withdrawn(id);
  for (const item of currentItems(response, ids)) teller.item(item);
  teller.usage();
  teller.end();
  return teller.fold;
}

/** An open output is told again when it has grown by this part and this many characters: so all of it costs O(n). */
const growth = { part: 1.25, characters: 256 };

/** Tells what differs between two states of a run. */
class Teller {
  readonly #before: ResponseState;
  readonly #after: ResponseState;
  readonly #shows: Shows;
  readonly #isOwn: boolean;
  readonly #told: Told[] = [];
  #calls: PersistentMap<CallItem>;
  #callIds: PersistentMap<string>;
  #outputs: PersistentMap<number>;

  constructor(before: RunFoldState, after: ResponseState, shows: Shows, isOwn: boolean) {
    this.#before = before.response;
    this.#after = after;
    this.#shows = shows;
    this.#isOwn = isOwn;
    this.#calls = before.calls;
    this.#callIds = before.callIds;
    this.#outputs = before.outputs;
  }

  get fold(): RunFold {
    const state = {
      response: this.#after,
      calls: this.#calls,
      callIds: this.#callIds,
      outputs: this.#outputs,
    };
    return { state, told: this.#told };
  }

  item(item: OutputItem): void {
    // One that had ended was told whole.
    if (this.#before.items.byId.has(item.id) && !this.#before.open.has(item.id)) return;
    switch (item.type) {
      case 'message':
        return item.origin === 'agent' ? this.#words(item) : this.#message(item);
      case 'reasoning':
        return this.#words(item);
      case 'function_call':
      case 'script_execution':
        return this.#call(item);
      case 'function_call_output':
      case 'script_execution_output':
        return this.#output(item);
      case 'plan':
        return this.#update({ sessionUpdate: 'plan', entries: item.entries });
      case 'approval':
        return this.#approval(item);
      case 'error':
        return this.#isOpen(item) ? undefined : this.#notice('error', item.message, item.id);
      case 'file_changes':
        // ACP has no word for a turn's net changes; those of each call are told with it.
        return;
    }
  }

  /** What was said cannot be unsaid; that it does not count is said. */
  withdrawn(id: string): void {
    const item = this.#before.open.get(id)?.item ?? this.#before.items.byId.get(id);
    if (item === undefined) return;
    if (item.type === 'function_call' || item.type === 'script_execution') {
      this.#calls = this.#calls.delete(keyOf(item));
      this.#update(cutOff(item, withdrawnCall));
    } else if (item.type === 'approval') {
      this.#tell({ kind: 'answered', approvalId: item.approvalId });
    } else if (item.type === 'message' && item.origin === 'agent' && this.#textBefore(id) !== '') {
      this.#chunk('agent_message_chunk', id, textBlock(`\n\n${withdrawnWords}\n\n`), {
        withdrawn: true,
      });
    }
  }

  usage(): void {
    const usage = this.#after.head?.usage;
    if (usage === this.#before.head?.usage || usage === undefined) return;
    const update = usageUpdate(usage);
    const told = this.#before.head?.usage && usageUpdate(this.#before.head.usage);
    if (update && JSON.stringify(update) !== JSON.stringify(told)) this.#update(update);
  }

  /** A call that got no output ends with its turn. */
  end(): void {
    const { status, error } = this.#after.head ?? {};
    if (status === undefined || status === 'in_progress' || status === 'queued') return;
    const why = status === 'complete' ? undefined : (error ?? cancelledCall);
    for (const call of this.#calls.values()) this.#update(cutOff(call, why));
    this.#calls = PersistentMap.empty();
  }

  #words(item: Extract<OutputItem, { type: 'message' | 'reasoning' }>): void {
    const kind = item.type === 'message' ? 'agent_message_chunk' : 'agent_thought_chunk';
    const parent = this.#parentOf(item);
    const meta = parent === undefined ? undefined : { parentToolCallId: parent };
    const [text, told] = [textOf(item), this.#textBefore(item.id)];
    const grows = this.#isOpen(item) ? text.length >= told.length : text.startsWith(told);
    // What has changed instead of growing is said again, whole.
    const id = grows ? item.id : `${item.id}:whole`;
    const news = grows ? text.slice(told.length) : text;
    if (news !== '') this.#chunk(kind, id, textBlock(news), meta);
    if (item.type === 'message') this.#blocks(kind, item, meta);
  }

  /** A message of a person, or of Liminal: told when it is whole. */
  #message(item: Extract<OutputItem, { type: 'message' }>): void {
    if (this.#isOpen(item)) return;
    if (item.origin === 'system') return this.#notice('info', item.content, item.id);
    if (this.#isOwn && item.delivery === undefined) return;
    if (item.delivery === 'not_taken') return;
    if (item.content !== '') this.#chunk('user_message_chunk', item.id, textBlock(item.content));
    this.#blocks('user_message_chunk', item);
  }

  #blocks(
    kind: ChunkKind,
    { id, blocks = [] }: Extract<OutputItem, { type: 'message' }>,
    meta?: Meta,
  ): void {
    const before = this.#before.open.get(id)?.item;
    const isNew = kind === 'user_message_chunk' || before?.type !== 'message';
    const told = isNew ? 0 : (before.blocks?.length ?? 0);
    for (const block of blocks.slice(told)) this.#chunk(kind, id, blockOf(block), meta);
  }

  #call(item: CallItem): void {
    const before = this.#before.open.get(item.id)?.item;
    const isWhole = !this.#isOpen(item) || item.type === 'script_execution';
    if (before === undefined) {
      // The same id again: whatever the earlier call was, it gets no answer any more.
      const earlier = this.#calls.get(keyOf(item));
      if (earlier !== undefined) this.#update(cutOff(earlier, undefined));
      this.#update(announced(item, isWhole, this.#parentOf(item)));
    } else if (item.type === 'function_call') {
      const update = changed(before as CallItem, item, isWhole);
      if (update !== undefined) this.#update(update);
    }
    this.#callIds = this.#callIds.set(keyOf(item), item.id);
    if (item.error === undefined) this.#calls = this.#calls.set(keyOf(item), item);
    else {
      this.#calls = this.#calls.delete(keyOf(item));
      this.#update(cutOff(item, item.error));
    }
  }

  #output(item: OutputOf): void {
    const call = this.#calls.get(familyOf(item)) ?? this.#unknownCall(item);
    if (!this.#isOpen(item)) {
      this.#calls = this.#calls.delete(familyOf(item));
      this.#outputs = this.#outputs.delete(item.id);
      return this.#update(ended(call, item));
    }
    const told = this.#outputs.get(item.id) ?? 0;
    const { length } = textOf(item);
    const before = this.#before.open.get(item.id)?.item;
    const hasNewBlocks = blockCount(item) !== (before ? blockCount(before) : 0);
    const isDue = length > told * growth.part + growth.characters || (told === 0 && length > 0);
    if (!isDue && !hasNewBlocks) return;
    this.#outputs = this.#outputs.set(item.id, length);
    this.#update(shown(call, item));
  }

  /** An output whose call nobody has told of, or which has ended. */
  #unknownCall(item: OutputOf): CallItem {
    const call: CallItem = {
      type: 'function_call',
      id: item.id,
      callId: familyOf(item),
      name: 'tool',
      arguments: '',
      origin: 'agent',
    };
    this.#update(announced(call, true, this.#parentOf(item)));
    this.#calls = this.#calls.set(familyOf(item), call);
    return call;
  }

  #approval(item: ApprovalItem): void {
    const isNew = !this.#before.items.byId.has(item.id);
    const { approvalId, callId } = item;
    if (this.#isOpen(item)) {
      const toolCallId = callId === undefined ? undefined : this.#callIds.get(callId);
      if (isNew) this.#tell({ kind: 'question', approval: item, toolCallId });
    } else if (!isNew) this.#tell({ kind: 'answered', approvalId });
  }

  /** Live words to people where the client has a place for them, else a message. */
  #notice(severity: 'info' | 'error', text: string, id: string): void {
    if (text.trim() === '') return;
    if (!this.#shows.notices) {
      return this.#chunk('agent_message_chunk', id, textBlock(text), { notice: severity });
    }
    const [title = '', ...rest] = text.trim().split('\n');
    const description = rest.join('\n').trim();
    this.#update({
      sessionUpdate: 'notice',
      severity,
      title,
      ...(description !== '' && { description }),
    });
  }

  /** The call of the subagent that an item belongs to, as the client knows it. */
  #parentOf({ parentCallId }: OutputItem): string | undefined {
    return parentCallId === undefined
      ? undefined
      : (this.#callIds.get(parentCallId) ?? parentCallId);
  }

  #isOpen(item: OutputItem): boolean {
    return this.#after.open.has(item.id);
  }

  #textBefore(id: string): string {
    return this.#before.open.get(id)?.text ?? '';
  }

  #chunk(kind: ChunkKind, messageId: string, content: Acp.ContentBlock, meta?: Meta): void {
    this.#update({
      sessionUpdate: kind,
      messageId,
      content,
      ...(meta !== undefined && { _meta: meta }),
    });
  }

  #update(update: Acp.SessionUpdate): void {
    this.#tell({ kind: 'update', update });
  }

  #tell(told: Told): void {
    this.#told.push(told);
  }
}

type ChunkKind = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk';
type Meta = Record<string, unknown>;

const withdrawnWords = '*(This answer broke off and does not count: the model is asked again.)*';
const withdrawnCall: ErrorObject = {
  code: 'WITHDRAWN',
  message: 'The call was withdrawn: the model is asked again.',
};
const cancelledCall: ErrorObject = {
  code: 'CANCELLED',
  message: 'The turn was cancelled before this tool answered.',
};

const keyOf = (call: CallItem): string => (call.type === 'function_call' ? call.callId : call.id);
const familyOf = (output: OutputOf): string =>
  output.type === 'function_call_output' ? output.callId : output.scriptId;
const blockCount = (item: OutputItem): number =>
  ('blocks' in item ? (item.blocks ?? []) : []).length;

/** Only where both are known: the client shows how full the context is. */
function usageUpdate({
  contextTokens: used,
  contextWindow: size,
  costUsd,
}: Usage): Acp.SessionUpdate | undefined {
  if (used === undefined || size === undefined) return undefined;
  const cost = costUsd === undefined ? {} : { cost: { amount: costUsd, currency: 'USD' } };
  return { sessionUpdate: 'usage_update', used, size, ...cost };
}
