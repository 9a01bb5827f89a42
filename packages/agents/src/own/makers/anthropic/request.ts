/**
 * Converts a conversation to a request of Anthropic's Messages API. Pure: the same conversation always gives the same
 * request, because current models bind their thinking to everything before the thinking, and reject the thinking after
 * a change. Therefore the thinking of every turn is sent back at its original position, and nothing that was sent once
 * is left out later. Models that need only the last turn's thinking ignore the rest.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { OutputItem } from '@liminal/protocol';
import { isRecord, parseLine } from '../../../base/parse-line.ts';
import type { ModelRequest } from '../../loop/model-client.ts';
import { CallIds } from './call-ids.ts';
import { type ModelFacts, factsOf, thinkingOf } from './model-facts.ts';
import { resultContent, userContent } from './user-content.ts';

type Params = Anthropic.MessageCreateParamsStreaming;
type Content = Anthropic.ContentBlockParam;
type CallItem = Extract<OutputItem, { type: 'function_call' }>;
type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

interface RequestMessage {
  role: 'user' | 'assistant';
  content: Content[];
}

interface RequestOptions {
  /** The model's facts from the server's list. */
  listed?: Partial<ModelFacts> | undefined;
  /** Whether the model may search the web with the maker's own tool. */
  webSearch?: boolean | undefined;
}

export function buildRequest(request: ModelRequest, options: RequestOptions = {}): Params {
  const facts = factsOf(request.model, options.listed);
  const messages = messagesOf(request.conversation);
  const isBudgeted = facts.thinks === 'budget';
  // If no thinking precedes a call, an older model can continue only with thinking switched off.
  const effort = isBudgeted && lacksThinking(messages) ? undefined : request.effort;
  return {
    model: request.model,
    stream: true,
    ...thinkingOf(facts, effort),
    ...(request.isWithoutCalls === true &&
      request.tools.length > 0 && { tool_choice: { type: 'none' as const } }),
    ...withCache(request, messages, options.webSearch),
  };
}

/**
 * The model may call the search only directly: a model that calls the search from a program of its own needs a server
 * that runs the program.
 */
const searchTool: Anthropic.WebSearchTool20260318 = {
  type: 'web_search_20260318',
  name: 'web_search',
  allowed_callers: ['direct'],
};

const cacheMark = { cache_control: { type: 'ephemeral' as const } };

/**
 * Marks the positions up to which the server caches the request: at the end of the part that never changes, and at the
 * ends of the last two user messages.
 */
function withCache(
  { instructions, tools }: ModelRequest,
  messages: RequestMessage[],
  webSearch = false,
): Pick<Params, 'system' | 'tools' | 'messages'> {
  const hasSystem = instructions.trim() !== '';
  const offered: Anthropic.ToolUnion[] = [
    ...tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: { ...parameters, type: 'object' as const },
    })),
    // Without any tools, the request has no search tool.
    ...(webSearch && tools.length > 0 ? [searchTool] : []),
  ];
  const marked = messages.filter(({ role }) => role === 'user').slice(-2);
  return {
    ...(hasSystem && { system: [{ type: 'text', text: instructions, ...cacheMark }] }),
    ...(offered.length > 0 && {
      tools: offered.map((tool, index) => ({
        ...tool,
        // The system prompt comes after the tools, so the cache mark on the system prompt also covers the tools.
        ...(!hasSystem && index === offered.length - 1 && cacheMark),
      })),
    }),
    messages: messages.map((message) => (marked.includes(message) ? markLast(message) : message)),
  };
}

function markLast({ role, content }: RequestMessage): RequestMessage {
  const last = content.at(-1);
  if (last === undefined) return { role, content };
  // Blocks of every kind in a user's message accept a cache mark.
  return { role, content: [...content.slice(0, -1), { ...last, ...cacheMark }] };
}

/** Returns whether the last answer called a tool without thinking before the call. */
function lacksThinking(messages: readonly RequestMessage[]): boolean {
  const isResult = ({ type }: Content): boolean => type === 'tool_result';
  if (messages.at(-1)?.content.some(isResult) !== true) return false;
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !content.some(isResult),
  );
  const first = messages.slice(asked + 1).find(({ role }) => role === 'assistant')?.content[0];
  return first === undefined || !isThinking(first);
}

const isThinking = ({ type }: Content): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

function messagesOf(conversation: readonly OutputItem[]): RequestMessage[] {
  const messages = new MessageBuilder(conversation);
  const broken = brokenOff(conversation);
  for (const item of conversation) {
    if (broken.has(item)) continue;
    // Calls made by a script or a subagent are not calls of the model.
    if (item.parentCallId !== undefined) continue;
    if (item.type === 'message') addMessage(messages, item);
    if (item.type === 'reasoning') messages.answer(thinkingBlock(item));
    if (item.type === 'function_call') messages.call(item);
    if (item.type === 'function_call_output') messages.result(item);
  }
  return messages.finish();
}

/**
 * Returns the calls of the server's own tools that have no result, except calls at the end of the conversation, because
 * there the model has only paused. The server rejects a request that has such unfinished calls.
 */
function brokenOff(conversation: readonly OutputItem[]): Set<OutputItem> {
  const isRunByServer = (item: OutputItem): boolean => {
    const type = nativeOf(item)?.['type'];
    return type !== undefined && type !== 'tool_use';
  };
  const ended = new Set(
    conversation.flatMap((item) =>
      item.type === 'function_call_output' && isRunByServer(item) ? item.callId : [],
    ),
  );
  const isOpen = (item: OutputItem): boolean =>
    item.type === 'function_call' && isRunByServer(item) && !ended.has(item.callId);
  const last = conversation.findLastIndex(
    ({ type }) => type !== 'function_call' && type !== 'function_call_output',
  );
  return new Set(conversation.slice(0, last + 1).filter(isOpen));
}

/** Adds a message; leaves out notices of the server and of Liminal, because they are only for people. */
function addMessage(
  messages: MessageBuilder,
  item: Extract<OutputItem, { type: 'message' }>,
): void {
  if (item.origin === 'user') messages.ask(userContent(item.content, item.blocks ?? []));
  if (item.origin === 'agent') messages.answer(textBlock(item));
}

/** Returns false for a blank text, because the API rejects blank texts. */
const hasWords = (text: string): boolean => text.trim() !== '';

function textBlock(item: Extract<OutputItem, { type: 'message' }>): Content[] {
  if (!hasWords(item.content)) return [];
  return [givenBlock({ ...nativeOf(item), type: 'text', text: item.content })];
}

/**
 * Returns the block of an item with thinking, if this API made the thinking and signed it. A block of an unknown type
 * is returned whole.
 */
function thinkingBlock(item: Extract<OutputItem, { type: 'reasoning' }>): Content[] {
  const native = nativeOf(item);
  if (native === undefined) return [];
  if (native['type'] !== 'thinking') return [givenBlock(native)];
  const { signature } = native;
  if (typeof signature !== 'string' || signature === '') return [];
  return [{ type: 'thinking', thinking: item.content, signature }];
}

/** Returns the block of the Messages API from which the item was made, without the fields that the item has. */
function nativeOf({ raw }: OutputItem): Record<string, unknown> | undefined {
  // `TurnWriter` stores several raw values of one item as a list.
  for (const kept of Array.isArray(raw) ? raw : [raw]) {
    const native = isRecord(kept) ? kept['anthropic'] : undefined;
    if (isRecord(native) && typeof native['type'] === 'string') return native;
  }
  return undefined;
}

/** Returns a block that is sent back to the API unchanged; the SDK's types lack some kinds of blocks. */
const givenBlock = (block: Record<string, unknown>): Content => block as unknown as Content;

/** Builds messages of alternating roles. All results of a message's calls are in the next message. */
class MessageBuilder {
  readonly #messages: RequestMessage[] = [];
  readonly #ids: CallIds;
  /** The calls of the last message that have no result yet, with their ids. */
  #open: { id: string; result: CallOutput | undefined }[] = [];

  constructor(conversation: readonly OutputItem[]) {
    this.#ids = new CallIds(conversation);
  }

  ask(content: Content[]): void {
    if (content.length === 0) return;
    this.#settle();
    this.#add('user', content);
  }

  answer(content: Content[]): void {
    if (content.length > 0) this.#add('assistant', content);
  }

  call(item: CallItem): void {
    const native = nativeOf(item);
    const id = this.#ids.of(item);
    const name = item.name.replaceAll(/[^\w-]/g, '_').slice(0, 128) || 'unknown';
    const block = { type: 'tool_use', ...native, id, name, input: parseInput(item.arguments) };
    this.answer([givenBlock(block)]);
    // Only calls of our own tools wait for a result here; the server runs its own tools.
    if (block.type === 'tool_use') this.#open.push({ id, result: this.#ids.resultOf(item) });
  }

  /**
   * Adds a call's result, which ends the message with the call. The result of a server's tool belongs to the message
   * that contains the call.
   */
  result(item: CallOutput): void {
    const native = nativeOf(item);
    if (native === undefined) this.#settle();
    else this.answer([givenBlock(native)]);
  }

  finish(): RequestMessage[] {
    this.#settle();
    this.#endAnswer();
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant') this.#trim(last);
    // The API requires a conversation to begin with the user, but an agent may have begun this conversation.
    if (this.#messages[0]?.role === 'assistant') {
      this.#messages.unshift({ role: 'user', content: [{ type: 'text', text: '(No message.)' }] });
    }
    return this.#messages;
  }

  #settle(): void {
    const open = this.#open;
    this.#open = [];
    if (open.length === 0) return;
    this.#add(
      'user',
      open.map(({ id, result }) => resultBlock(id, result)),
    );
  }

  #add(role: RequestMessage['role'], content: Content[]): void {
    if (role === 'user') this.#endAnswer();
    const last = this.#messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else this.#messages.push({ role, content: [...content] });
  }

  /** Removes thinking at the end of an answer that was stopped there, because the API rejects such thinking. */
  #endAnswer(): void {
    const last = this.#messages.at(-1);
    if (last?.role !== 'assistant') return;
    const end = last.content.findLastIndex((block) => !isThinking(block)) + 1;
    last.content.splice(end);
    if (end === 0) this.#messages.pop();
  }

  /** Removes white space at the end of the last answer, because the API rejects such white space. */
  #trim({ content }: RequestMessage): void {
    const last = content.at(-1);
    if (last?.type === 'text') content[content.length - 1] = { ...last, text: last.text.trimEnd() };
  }
}

function resultBlock(id: string, result: CallOutput | undefined): Content {
  const content =
    result === undefined ? 'The call was interrupted: it has no result.' : resultContent(result);
  const isError = result?.success !== true;
  return { type: 'tool_result', tool_use_id: id, content, ...(isError && { is_error: true }) };
}

/**
 * Returns the input of a call as an object, because the API accepts only an object. Any other text is put into an
 * object, so that the model can read the text; the call's result explains the problem.
 */
function parseInput(json: string): Record<string, unknown> {
  if (json.trim() === '') return {};
  const input = parseLine(json);
  return isRecord(input) ? input : { unreadable_arguments: json };
}
