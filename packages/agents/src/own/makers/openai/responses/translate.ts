/** Translates events of the Responses API's stream to items of a turn. */
import type { OutputItem, Usage } from '@liminal/protocol';
import { isRecord } from '../../../../base/parse-line.ts';
import { type WebAction, webResults, webSearchCall } from '../../../../base/web-search.ts';
import type { AnswerWriter } from '../../../loop/answer-writer.ts';
import { type Citation, citationsIn, withCitations } from '../../../loop/citations.ts';
import type { ModelAnswer, ModelCall } from '../../../loop/model-client.ts';
import { CallIds } from '../call-ids.ts';
import { brokeOff, endedInError, errorOfComplaint, readComplaint } from '../errors.ts';
import { ResponseObject, ResponsesEvent, ResponseItem } from './wire.ts';

type OutputKind = 'message' | 'reasoning' | 'function_call' | 'web_search_call';

interface StreamedItem {
  kind: OutputKind;
  itemId: string;
  /** The whole text so far; the text in the log may be cut. */
  text: string;
  /** The part of the item to which the last text belonged. */
  part: string | undefined;
  isDone: boolean;
  call: { callId: string; name: string } | undefined;
}

/** Writes the answer of one Responses stream. */
export class ResponsesTranslator {
  readonly #writer: AnswerWriter;
  readonly #ids: CallIds;
  /** The open items, by their index in the output, or by id if the server sends no indexes. */
  readonly #items = new Map<number | string, StreamedItem>();
  /** The indexes, in the output, of items of unknown types. */
  readonly #unknown = new Set<number | string>();
  #citations: Citation[] = [];
  #finishReason: string | undefined;
  #usage: Usage | undefined;
  #searches: number | undefined;
  #isRefusal = false;

  constructor(writer: AnswerWriter, ids: CallIds = new CallIds()) {
    this.#writer = writer;
    this.#ids = ids;
  }

  /**
   * Reads an event of the stream.
   * @throws ModelError if the event reports that the answer failed.
   */
  read(data: unknown): void {
    if (isTextDelta(data))
      return this.#appendDelta(data, 'message', data.delta, data.content_index);
    const event = ResponsesEvent.safeParse(data).data;
    if (event !== undefined) return this.#readEvent(event);
    // A server that does not stream sends the whole answer, or only an error.
    if (isRecord(data) && data['object'] === 'response') return this.#finish(data, undefined);
    if (isRecord(data) && data['error'] != null) throw errorOfComplaint(readComplaint(data));
    this.#writer.keep(data);
  }

  /**
   * Returns the whole answer, after its stream has ended.
   * @param isMarked - Whether the server has marked the end.
   * @throws ModelError if the answer is not complete.
   */
  end(isMarked = false): ModelAnswer {
    if (this.#finishReason === undefined && !isMarked) throw brokeOff();
    for (const item of this.#items.values()) this.#done(item);
    const finishReason = this.#isRefusal ? 'refusal' : (this.#finishReason ?? 'completed');
    const calls = this.#calls();
    return {
      calls,
      finishReason,
      usage: this.#usage,
      ...(this.#searches !== undefined && { searches: this.#searches }),
      ...withCitations(this.#citations),
    };
  }

  #readEvent(event: ResponsesEvent): void {
    const { type, delta = '' } = event;
    switch (type) {
      case 'response.output_item.added':
        return this.#added(event);
      case 'response.output_item.done':
        return this.#itemDone(event);
      case 'response.output_text.delta':
        return this.#appendDelta(event, 'message', delta, event.content_index);
      case 'response.refusal.delta':
        this.#isRefusal = true;
        return this.#appendDelta(event, 'message', delta, event.content_index);
      case 'response.reasoning_text.delta':
        return this.#appendDelta(event, 'reasoning', delta, event.content_index);
      case 'response.reasoning_summary_text.delta':
        return this.#appendDelta(event, 'reasoning', delta, event.summary_index);
      case 'response.function_call_arguments.delta':
        return this.#appendDelta(event, 'function_call', delta);
      case 'response.function_call_arguments.done':
        return void this.#settle(this.#open(event, 'function_call'), event.arguments ?? '');
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return this.#finish(event.response, type.replace('response.', ''));
      case 'error':
      case 'response.error':
        throw errorOfComplaint(readComplaint(event));
      default:
        if (!silent.has(type)) this.#writer.keep(event);
    }
  }

  #added(event: ResponsesEvent): void {
    const item = ResponseItem.safeParse(event.item).data;
    if (item === undefined || !isKind(item.type)) {
      this.#writer.countPart();
      return void this.#unknown.add(itemKey(event));
    }
    const open = this.#open(event, item.type, item);
    this.#settle(open, wholeText(item));
  }

  #itemDone(event: ResponsesEvent): void {
    const item = ResponseItem.safeParse(event.item).data;
    if (item === undefined || !isKind(item.type)) {
      this.#writer.countPart();
      this.#unknown.add(itemKey(event));
      return this.#writer.keep(event.item);
    }
    const open = this.#open(event, item.type, item);
    if (item.type === 'web_search_call') return this.#searched(open, item);
    if (open.call !== undefined && item.name) open.call.name = item.name;
    if (item.content?.some(({ refusal }) => refusal !== undefined)) this.#isRefusal = true;
    this.#citations.push(...citationsIn(annotationsOf(item)));
    const text = wholeText(item);
    // The finished item has the whole text again.
    const isOther = text !== '' && !this.#settle(open, text);
    this.#done(open, { ...(isOther && changedText(open, text)), ...ownOf(item) });
  }

  /** Writes a web search by the server as a call with its results. */
  #searched(open: StreamedItem, item: ResponseItem): void {
    if (open.isDone) return;
    this.#done(open, { ...searchCallOf(item), raw: { openai: item } });
    const { itemId } = open;
    this.#writer.add({
      type: 'function_call_output',
      id: `${itemId}:output`,
      callId: itemId,
      origin: 'system',
      ...searchResultOf(item),
    });
  }

  /** Returns the open item that an event is about. If the server did not announce the item, begins the item. */
  #open(event: ResponsesEvent, kind: OutputKind, item?: ResponseItem): StreamedItem {
    const place = itemKey(event, item);
    const known = this.#items.get(place);
    if (known?.kind === kind) return known;
    const id = item?.id ?? event.item_id ?? `${kind}:${place}`;
    const call = kind === 'function_call' ? this.#callOf(item) : undefined;
    const face = kind === 'web_search_call' ? searchFace(id, item) : initialItem(kind, id, call);
    const open: StreamedItem = {
      kind,
      itemId: this.#writer.start(face),
      text: '',
      part: undefined,
      isDone: false,
      call,
    };
    this.#items.set(place, open);
    return open;
  }

  #callOf(item: ResponseItem | undefined): { callId: string; name: string } {
    return { callId: this.#ids.take(item?.call_id ?? undefined), name: item?.name ?? '' };
  }

  #appendDelta(event: ResponsesEvent, kind: OutputKind, delta: string, index = 0): void {
    if (delta === '') return;
    const open = this.#open(event, kind);
    const part = `${event.type}:${index}`;
    // Parts of reasoning become paragraphs, while parts of a message are joined.
    const isNext = kind === 'reasoning' && open.part !== undefined && open.part !== part;
    open.part = part;
    this.#append(open, isNext ? `${between}${delta}` : delta);
  }

  /**
   * Appends the part of the full text that was not streamed. Returns false if the full text does not begin with the
   * streamed text.
   */
  #settle(open: StreamedItem, fullText: string): boolean {
    if (!fullText.startsWith(open.text)) return false;
    this.#append(open, fullText.slice(open.text.length));
    return true;
  }

  #append(open: StreamedItem, text: string): void {
    open.text += text;
    this.#writer.append(open.itemId, text);
  }

  #done(open: StreamedItem, change: Partial<OutputItem> = {}): void {
    if (open.isDone) return;
    open.isDone = true;
    const name = open.call === undefined ? {} : { name: open.call.name };
    this.#writer.done(open.itemId, { ...name, ...change });
  }

  /**
   * @param outcome - The status in the last event. Default: the status in the answer.
   * @throws ModelError if the answer failed.
   */
  #finish(response: unknown, outcome: string | undefined): void {
    const answer = ResponseObject.safeParse(response).data;
    const status = outcome ?? answer?.status ?? 'completed';
    if (answer?.usage != null) this.#usage = usageOf(answer.usage);
    this.#searches = answer?.tool_usage?.web_search?.num_requests ?? undefined;
    if (answer?.error != null) throw errorOfComplaint(readComplaint(answer.error));
    if (status === 'failed' || status === 'cancelled') {
      throw errorOfComplaint(readComplaint(`The answer’s status is ${status}.`));
    }
    const reason = answer?.incomplete_details?.reason ?? status;
    if (reason === 'error' || answer?.status === 'error') throw endedInError();
    // Items that were not streamed are read here.
    for (const [index, item] of (answer?.output ?? []).entries()) {
      if (!this.#has(index, item)) this.#itemDone({ type: '', output_index: index, item });
    }
    this.#finishReason = reason;
  }

  #has(index: number, item: unknown): boolean {
    const places = [index, isRecord(item) ? item['id'] : undefined] as (number | string)[];
    return places.some((place) => this.#items.has(place) || this.#unknown.has(place));
  }

  #calls(): ModelCall[] {
    return [...this.#items.values()].flatMap(({ call, text, itemId }) =>
      call === undefined ? [] : [{ ...call, arguments: text, itemId }],
    );
  }
}

/** Events whose content is also in other events. */
const silent = new Set(
  [
    'created',
    'queued',
    'in_progress',
    'content_part.added',
    'content_part.done',
    'output_text.done',
    'output_text.annotation.added',
    'refusal.done',
    'reasoning_text.done',
    'reasoning_part.added',
    'reasoning_part.done',
    'reasoning_summary_part.added',
    'reasoning_summary_part.done',
    'reasoning_summary_text.done',
    'web_search_call.in_progress',
    'web_search_call.searching',
    'web_search_call.completed',
  ].map((name) => `response.${name}`),
);

/** Returns whether the event is a text delta; checked without a schema, because most events are text deltas. */
function isTextDelta(data: unknown): data is ResponsesEvent & { delta: string } {
  if (!isRecord(data) || data['type'] !== 'response.output_text.delta') return false;
  const { delta, output_index: place, content_index: part, item_id: id } = data;
  const isPlaced = typeof place === 'number' && (part === undefined || typeof part === 'number');
  return isPlaced && typeof delta === 'string' && (id === undefined || typeof id === 'string');
}

const between = '\n\n';

const kinds = ['message', 'reasoning', 'function_call', 'web_search_call'] as const;

const isKind = (type: string): type is OutputKind => kinds.some((kind) => kind === type);

const itemKey = (event: ResponsesEvent, item?: ResponseItem): number | string =>
  event.output_index ?? event.item_id ?? item?.id ?? 0;

function initialItem(
  kind: Exclude<OutputKind, 'web_search_call'>,
  id: string,
  call: StreamedItem['call'],
): OutputItem {
  if (kind !== 'function_call') return { type: kind, id, content: '', origin: 'agent' };
  return { type: kind, id, callId: '', name: '', ...call, arguments: '', origin: 'agent' };
}

const webActions: Record<string, WebAction['kind']> = { open_page: 'open', find_in_page: 'find' };

function searchCallOf({ action }: Partial<ResponseItem>): ReturnType<typeof webSearchCall> {
  const { type, query, queries, url, pattern } = action ?? {};
  return webSearchCall({
    kind: webActions[type ?? ''] ?? 'search',
    query: query ?? queries?.[0],
    queries: queries ?? undefined,
    url: url ?? undefined,
    pattern: pattern ?? undefined,
  });
}

/** Returns the item of a search that has begun; most servers send the search words only at its end. */
const searchFace = (id: string, item: Partial<ResponseItem> = {}): OutputItem => ({
  type: 'function_call',
  id,
  callId: id,
  ...searchCallOf(item),
  arguments: '',
  origin: 'agent',
});

function searchResultOf(item: ResponseItem): { output: string; success: boolean } {
  const { status, action } = item;
  const success = status !== 'failed' && status !== 'incomplete';
  const found = webResults(action?.sources ?? []);
  if (success) return { output: found, success };
  const { words } = readComplaint(item['error'] ?? '');
  return { output: words === '' ? 'The search failed.' : `The search failed: ${words}`, success };
}

function wholeText(item: ResponseItem): string {
  if (item.type === 'function_call') return item.arguments ?? '';
  const parts = (item.content ?? []).map(({ text, refusal }) => text ?? refusal ?? '');
  if (item.type === 'message') return parts.join('');
  return [...parts, ...(item.summary ?? []).map(({ text = '' }) => text)].join(between);
}

/** Returns the fields that change if the final text differs from the streamed text. */
function changedText(open: StreamedItem, text: string): Partial<OutputItem> {
  open.text = text;
  return open.kind === 'function_call' ? { arguments: text } : { content: text };
}

/**
 * Returns the raw data of an item: the encrypted content, which is sent back with the next request, and unknown fields.
 */
function ownOf(item: ResponseItem): { raw?: unknown } {
  const { id, type, status: _status, role: _role, ...fields } = item;
  const { content: _content, summary: _summary, ...rest } = fields;
  const { call_id: _callId, name: _name, arguments: _arguments, ...more } = rest;
  const annotations = annotationsOf(item);
  const own = Object.fromEntries(Object.entries(more).filter(([, value]) => value != null));
  if (annotations.length > 0) own['annotations'] = annotations;
  if (Object.keys(own).length === 0 && type !== 'reasoning') return {};
  return { raw: { openai: { ...(id != null && { id }), ...own } } };
}

const annotationsOf = ({ content }: ResponseItem): unknown[] =>
  (content ?? []).flatMap(({ annotations }) =>
    Array.isArray(annotations) ? (annotations as unknown[]) : [],
  );

function usageOf(reported: NonNullable<ResponseObject['usage']>): Usage {
  const cached = reported.input_tokens_details?.cached_tokens;
  return {
    inputTokens: reported.input_tokens ?? 0,
    outputTokens: reported.output_tokens ?? 0,
    ...(cached != null && { cacheReadInputTokens: cached }),
  };
}
