/** Removes secrets from runs so that folding the remaining events gives the run without its secrets. */
import type { ContentBlock } from '../content.ts';
import { blobHash, blobUri } from '../blobs.ts';
import type { EventPayload, ItemStartPayload, StreamEvent } from '../events.ts';
import type { Response } from '../response.ts';
import { runSteps, SecretFinder, secretMark, type Steps } from './find-secrets.ts';
import { isSecretName } from './rules.ts';

/** A blob without secrets that replaces a blob with secrets. */
export interface ReplacedBlob {
  hash: string;
  /** In bytes. */
  size: number;
}

/** The text of one item while the item is open. */
interface GrowingItem {
  hasStarted: boolean;
  /** `at` is the index of the piece's event in the run. */
  pieces: { at: number; text: string }[];
}

/** Fields with ids and types. They are not redacted, because readers need them. */
const structure = new Set([
  'type',
  'id',
  'itemId',
  'itemType',
  'callId',
  'parentCallId',
  'correlationId',
  'approvalId',
  'optionId',
  'scriptId',
  'origin',
  'kind',
  'status',
  'priority',
  'outcome',
  'delivery',
  'compaction',
  'trigger',
  'finishReason',
  'startedAt',
  'endedAt',
  'turnId',
  'runId',
  'sessionId',
  'traceparent',
  'parentSpanId',
  'mimeType',
]);
/**
 * Fields whose content is defined by other programs. Within such a field, a field that has the same name as one of
 * Liminal's fields has another meaning.
 */
const foreign = new Set(['raw', 'details', 'form', 'content']);

/** The cost of one field without its text, as the number of characters that a pattern reads in the same time. */
const fieldCost = 500;

/**
 * Removes secrets. A method whose name ends with `InSteps` does the same work as the method without this suffix, but in
 * steps.
 */
export class Redactor {
  readonly #finder: SecretFinder;
  readonly #blobs: ReadonlyMap<string, ReplacedBlob>;
  readonly #counts = new Map<string, number>();
  /** False while events are redacted, because events repeat the secrets of their run. */
  #isCounting = true;

  /**
   * @param known - Secrets to remove wherever they occur.
   * @param blobs - Blobs that replace other blobs, by the hashes of the replaced blobs; the map may grow between calls.
   */
  constructor(known: readonly string[], blobs: ReadonlyMap<string, ReplacedBlob> = new Map()) {
    this.#finder = new SecretFinder(known);
    this.#blobs = blobs;
  }

  /** For each rule, the number of secrets that it has removed from runs and other values. */
  get counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  text(text: string): string {
    return runSteps(this.textInSteps(text));
  }

  /** Removes secrets from a run and its items. */
  response(run: Response): Response {
    return runSteps(this.responseInSteps(run));
  }

  /** A value that is not part of a run, for example a session's title and folder. */
  value<T>(value: T): T {
    return runSteps(this.#value(value, false)) as T;
  }

  /**
   * Removes secrets from a run's events. The texts of all events of an item are searched as one text, because a secret
   * may begin in one event and end in a later one. The event in which a secret begins gets the mark; later events lose
   * the secret's remaining characters.
   */
  events(events: readonly StreamEvent[]): StreamEvent[] {
    return runSteps(this.eventsInSteps(events));
  }

  *textInSteps(text: string): Steps<string> {
    const [redacted = ''] = yield* this.#pieces([text]);
    return redacted;
  }

  *responseInSteps(run: Response): Steps<Response> {
    return (yield* this.#fields(run, false)) as Response;
  }

  *eventsInSteps(events: readonly StreamEvent[]): Steps<StreamEvent[]> {
    this.#isCounting = false;
    try {
      const texts = yield* this.#growingTexts(events);
      const redacted: StreamEvent[] = [];
      for (const [at, event] of events.entries()) {
        const traceContext = yield* this.#value(event.traceContext, false);
        const payload = yield* this.#payload(event.payload, texts.get(at));
        // Redaction never changes a payload's type.
        redacted.push({ ...event, traceContext, payload } as StreamEvent);
      }
      return redacted;
    } finally {
      this.#isCounting = true;
    }
  }

  *#payload(payload: EventPayload, text: string | undefined): Steps<EventPayload> {
    const redacted = (yield* this.#fields(payload, false)) as EventPayload;
    if (text === undefined) return redacted;
    if (redacted.type === 'item_delta') {
      if (redacted.patch?.arguments === undefined) return { ...redacted, deltaContent: text };
      return { ...redacted, deltaContent: '', patch: { ...redacted.patch, arguments: text } };
    }
    if (redacted.type === 'script_execution_start') return { ...redacted, code: text };
    if (redacted.type !== 'item_start' || text === '') return redacted;
    return { ...redacted, [startTextField(redacted)]: text };
  }

  /** Returns the new texts of the events that begin or extend an item's text, by the indexes of the events. */
  *#growingTexts(events: readonly StreamEvent[]): Steps<Map<number, string>> {
    const texts = new Map<number, string>();
    const open = new Map<string, GrowingItem>();
    const ended: GrowingItem[] = [];
    const close = (itemId: string): void => {
      const item = open.get(itemId);
      if (item) ended.push(item);
      open.delete(itemId);
    };
    for (const [at, { payload }] of events.entries()) {
      if (!('itemId' in payload)) continue;
      const { itemId } = payload;
      const text = eventText(payload);
      const isStart = payload.type !== 'item_delta';
      const hasStarted = open.get(itemId)?.hasStarted === true;
      // As in the fold: an item starts once, and text before its start is dropped.
      if (isStart && hasStarted && text !== undefined) continue;
      // New arguments replace the text so far.
      if (isStart || payload.patch?.arguments !== undefined) close(itemId);
      if (text === undefined) continue;
      const item = open.get(itemId) ?? { hasStarted: isStart || hasStarted, pieces: [] };
      item.pieces.push({ at, text });
      open.set(itemId, item);
    }
    for (const { pieces } of [...ended, ...open.values()]) {
      const redacted = yield* this.#pieces(pieces.map(({ text }) => text));
      for (const [index, { at }] of pieces.entries()) texts.set(at, redacted[index] ?? '');
    }
    return texts;
  }

  /** Returns the pieces of a text without its secrets. The piece in which a secret begins gets the mark. */
  *#pieces(pieces: readonly string[]): Steps<string[]> {
    const found = yield* this.#finder.find(pieces.join(''));
    for (const { rule } of found) this.#count(rule);
    if (found.length === 0) return [...pieces];
    let [from, next] = [0, 0];
    return pieces.map((piece) => {
      const to = from + piece.length;
      let [kept, at] = ['', from];
      for (let one = found[next]; one && one.start < to; one = found[next]) {
        if (one.start >= from)
          kept += piece.slice(at - from, one.start - from) + secretMark(one.rule);
        at = Math.min(one.end, to);
        if (one.end > to) break;
        next += 1;
      }
      kept += piece.slice(at - from);
      from = to;
      return kept;
    });
  }

  *#value(value: unknown, isForeign: boolean): Steps<unknown> {
    if (typeof value === 'string') return yield* this.textInSteps(value);
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) return yield* this.#fields(value, isForeign);
    const redacted: unknown[] = [];
    for (const one of value) redacted.push(yield* this.#value(one, isForeign));
    return redacted;
  }

  *#fields(object: object, isForeign: boolean): Steps<object> {
    const replaced = this.#replacedBlob(object);
    const fields: [string, unknown][] = [];
    for (const [name, value] of Object.entries(object) as [string, unknown][]) {
      yield* this.#finder.reading(fieldCost);
      if (!isForeign && structure.has(name)) fields.push([name, value]);
      else if (replaced && name === 'uri') fields.push([name, blobUri(replaced.hash)]);
      else if (replaced && name === 'size') fields.push([name, replaced.size]);
      else if (typeof value === 'string' && isSecretName(name) && value.length >= 4) {
        fields.push([yield* this.textInSteps(name), yield* this.#hidden(value)]);
      } else {
        const isInside = isForeign || (foreign.has(name) && typeof value === 'object');
        const shown = isForeign ? yield* this.textInSteps(name) : name;
        fields.push([shown, yield* this.#value(value, isInside)]);
      }
    }
    return Object.fromEntries(fields);
  }

  /**
   * Returns the mark that replaces the whole value of a field whose name shows that its value is secret. If a rule
   * finds a secret in the value, this is the mark of that rule.
   */
  *#hidden(value: string): Steps<string> {
    const [found] = yield* this.#finder.find(value);
    const rule = found?.rule ?? 'assignment';
    this.#count(rule);
    return secretMark(rule);
  }

  #count(rule: string): void {
    if (this.#isCounting) this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
  }

  #replacedBlob(object: object): ReplacedBlob | undefined {
    const { uri } = object as Partial<Extract<ContentBlock, { type: 'image' }>>;
    return typeof uri === 'string' ? this.#blobs.get(blobHash(uri) ?? '') : undefined;
  }
}

/**
 * Returns the field of an `item_start` event that contains the beginning of the item's text, as `startItem` reads it.
 */
function startTextField(payload: ItemStartPayload): 'arguments' | 'code' | 'initialContent' {
  if (payload.itemType === 'function_call' && payload.arguments !== undefined) return 'arguments';
  if (payload.itemType === 'script_execution' && payload.code !== undefined) return 'code';
  return 'initialContent';
}

/** The text with which an event begins or extends an item; undefined if the event ends the item. */
function eventText(payload: Extract<EventPayload, { itemId: string }>): string | undefined {
  if (payload.type === 'item_delta') {
    return (payload.patch?.arguments ?? '') + payload.deltaContent;
  }
  if (payload.type === 'script_execution_start') return payload.code;
  return payload.type === 'item_start' ? (payload[startTextField(payload)] ?? '') : undefined;
}
