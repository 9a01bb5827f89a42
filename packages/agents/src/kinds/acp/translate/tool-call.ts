import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  type AskedCall,
  askedKeys,
  callDifferences,
  pickDefined,
  ToolKind,
  type OutputItem,
} from '@liminal/protocol';
import { BoundedList } from '../../../base/bounded-list.ts';
import { toJson } from '../../../base/few-values.ts';
import type { AskedCallInfo } from '../../../base/pending-approvals.ts';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { isRecord, readFields, type Read } from './fields.ts';
import { parentCallOf } from './parent-call.ts';
import { ToolOutput } from './tool-output.ts';
import { isKnownContent, readLocations, readToolContent } from './tool-content.ts';
import type { TerminalTexts } from './terminals.ts';
import { readTerminalMeta } from './terminal-meta.ts';

type CallItem = Extract<OutputItem, { type: 'function_call' }>;

const toolCall = {
  sessionUpdate: z.string(),
  toolCallId: z.string().min(1),
  title: z.string(),
  name: z.string(),
  kind: ToolKind,
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']),
  content: z.array(z.unknown()),
  locations: z.array(z.unknown()),
  rawInput: z.unknown(),
  rawOutput: z.unknown(),
  _meta: z.record(z.string(), z.unknown()),
};

type CallFields = Read<typeof toolCall>['fields'];

/** Only this field contains the name of an MCP server's tool in Qwen Code 0.24, as `mcp__server__tool`. */
const McpTool = z.looseObject({ toolName: z.string().regex(/^mcp__.+__./) });

/** Reads the fields of a call's update; the name also from `_meta`. */
function readCall(update: unknown): Read<typeof toolCall> {
  const { fields, rest } = readFields(update, toolCall);
  const name = fields.name ?? McpTool.safeParse(fields._meta).data?.toolName;
  return { fields: { ...fields, ...(name !== undefined && { name }) }, rest };
}

/** Those fields of a call that are shown to the person who decides. */
type ShownFields = Partial<Omit<AskedCall, 'name'>>;
const shownKeys = ['arguments', ...askedKeys] as const;

/**
 * An agent may replace a call's arguments often. New arguments are written at once only while the total length
 * (characters) of all written arguments is at most `alwaysWritten` plus `writtenTimes` times the length of the new
 * arguments.
 */
const alwaysWritten = 64 * 1024;
const writtenTimes = 4;

/** How many unread values are kept of a call. */
const maxUnread = 100;

/** The longest id, in characters; a longer one is replaced by its hash. */
const maxIdLength = 200;

/** Where an update of a call comes from. Content from a permission request describes the call and is not output. */
export type Source = 'announcement' | 'update' | 'request';

/** Returns the call id of an update; undefined if the update has none. */
export function callIdOf(update: unknown): string | undefined {
  const id = isRecord(update) ? update['toolCallId'] : undefined;
  if (typeof id !== 'string' || id === '') return undefined;
  return id.length <= maxIdLength ? id : `${id.slice(0, 40)}…${hash('sha256', id)}`;
}

/** A tool call and its output, from the first update to the end. */
export class ToolCall {
  readonly callId: string;
  readonly output: ToolOutput;
  readonly #writer: TurnWriter;
  #item: CallItem;
  #name: string | undefined;
  #status: CallFields['status'];
  /** The arguments as they were last written. */
  #written = '';
  /** The total length of all replaced arguments that were written (characters). */
  #replaced = 0;
  /** The value of each field before its newest change. */
  #before: Partial<AskedCall> = {};
  readonly #unread = new BoundedList({ values: maxUnread });
  /** Hashes of the unread values: agents often repeat a value with every update. */
  readonly #seen = new Set<string>();

  /** `place` is the call's number in the turn, from which the item's id is made: the agents' call ids may repeat. */
  constructor(
    callId: string,
    place: number,
    writer: TurnWriter,
    terminals: TerminalTexts,
    parentCallId?: string,
  ) {
    this.callId = callId;
    this.#writer = writer;
    const id = `${writer.turnId}:call:${place}`;
    const item = { id, callId, name: '', arguments: '', origin: 'agent' } as const;
    const parent = parentCallId === undefined || parentCallId === callId ? {} : { parentCallId };
    this.#item = { type: 'function_call', ...item, ...parent };
    this.output = new ToolOutput(callId, place, writer, terminals);
  }

  /** Whether the call succeeded, according to the agent; undefined while the call runs. */
  get success(): boolean | undefined {
    if (this.#status === 'completed') return true;
    return this.#status === 'failed' ? false : undefined;
  }

  /** Returns whether an update changes the call's state. */
  isChangedBy(update: unknown): boolean {
    const { status } = readFields(update, { status: toolCall.status }).fields;
    return status !== undefined && status !== this.#status;
  }

  /** Returns whether an update only repeats known values of the call. */
  isRepeatedBy(update: unknown): boolean {
    const { title, kind, rawInput, content } = readFields(update, toolCall).fields;
    const { title: known, kind: knownKind, arguments: knownArguments } = this.#item;
    const diffs = content === undefined ? [] : readToolContent(content).diffs;
    return (
      (title === undefined || title === known || title === placeholder.title) &&
      (kind === undefined || kind === knownKind || kind === placeholder.kind) &&
      (isEmpty(rawInput) || toJson(rawInput) === knownArguments) &&
      (diffs.length === 0 || isEqual(diffs, this.#item.diffs)) &&
      diffs.length === (content?.length ?? 0)
    );
  }

  read(update: unknown, source: Source): void {
    const { fields, rest } = readCall(update);
    if (rest !== undefined) this.#keep(rest);
    this.#status = fields.status ?? this.#status;
    this.#apply(source === 'request' ? this.#asked(fields) : fields);
    if (fields.content !== undefined) this.#readContent(fields.content, fields, source);
    if (fields.rawOutput !== undefined) this.output.rawOutput = fields.rawOutput;
    if (fields._meta !== undefined) this.#readMeta(fields._meta);
    const hasNewOutput = fields.content !== undefined || fields.rawOutput !== undefined;
    if (hasNewOutput && this.success === undefined) this.output.show();
  }

  /**
   * Returns the call as a permission request describes it (`asked`); fields that the request lacks come from the call.
   * `earlier` has the call's values that differ from the request's: the call's present values, or the values before the
   * call's newest change.
   */
  asked(request: unknown): AskedCallInfo {
    const { name = this.#name, ...own } = shownFieldsOf(request);
    const asked = toAskedCall({ ...withoutEmpty(this.#item), ...own }, name);
    const currentValues = callDifferences(asked, withoutEmpty(this.#item));
    const earlier = { ...callDifferences(asked, this.#before), ...currentValues };
    const names = [this.#name, this.#before.name];
    const other = names.find((one) => one !== undefined && one !== name);
    if (other !== undefined) earlier.name = other;
    return { asked, ...(Object.keys(earlier).length > 0 && { earlier }) };
  }

  /** Ends the call. If the call has no output, the output is `reason`. */
  end(success: boolean, reason = ''): void {
    const raw = this.#unread.take();
    const call = { ...this.#item, arguments: this.#item.arguments || '{}' };
    this.#writer.done(call.id, raw.length === 0 ? call : { ...call, raw });
    this.output.end(success, reason);
  }

  #apply(fields: CallFields): void {
    const before = this.#item;
    if (fields.name !== undefined && fields.name !== this.#name) {
      if (this.#name !== undefined) this.#before.name = this.#name;
      this.#name = fields.name;
    }
    this.#item = { ...before, ...this.#face(fields) };
    this.#item.name = toolNameOf(this.#item, this.#name);
    if (!this.#writer.isOpen(before.id)) {
      this.#written = this.#item.arguments;
      return this.#writer.start(this.#item);
    }
    if (before.arguments === '') {
      this.#written = this.#item.arguments;
      this.#writer.append(before.id, this.#item.arguments);
    }
    this.#patch(before);
  }

  /**
   * Returns the fields of a permission request that the call lacks. Fields that differ from the call's are stored with
   * the call as unread values.
   */
  #asked(fields: CallFields): CallFields {
    if (!this.#writer.isOpen(this.#item.id)) return fields;
    const { title, name, kind, rawInput, locations } = fields;
    const known = this.#item.arguments;
    const compared: [keyof CallFields, unknown, unknown][] = [
      ['title', title, this.#item.title],
      ['name', name, this.#name],
      ['kind', kind, this.#item.kind],
      ['locations', locations, this.#item.locations],
      // Compare the arguments as JSON texts: the known arguments may be too large to parse.
      [
        'rawInput',
        isEmpty(rawInput) ? undefined : rawInput,
        known === toJson(rawInput) ? rawInput : known || undefined,
      ],
    ];
    const isKnown = compared.filter(
      ([, asked, known]) => asked !== undefined && known !== undefined,
    );
    const differs = isKnown.filter(([, asked, known]) => !isEqual(asked, known));
    if (differs.length > 0) {
      this.#keep({ request: Object.fromEntries(differs.map(([key, asked]) => [key, asked])) });
    }
    const spare = new Set<string>(isKnown.map(([key]) => key));
    return Object.fromEntries(Object.entries(fields).filter(([key]) => !spare.has(key)));
  }

  #face({ title, kind, locations, rawInput, _meta: meta }: CallFields): Partial<CallItem> {
    const parentCallId = parentCallOf(meta);
    const read = locations && readLocations(locations);
    for (const unread of read?.unread ?? []) this.#keep(unread);
    return {
      ...(title !== undefined && { title }),
      ...(kind !== undefined && { kind }),
      ...(read !== undefined && { locations: read.locations }),
      ...(!isEmpty(rawInput) && { arguments: toJson(rawInput) }),
      ...(parentCallId !== undefined && parentCallId !== this.callId && { parentCallId }),
    };
  }

  /** Emits the changed fields. */
  #patch(before: CallItem): void {
    for (const key of shownKeys) {
      const isReplaced = before[key] !== undefined && before[key] !== '';
      if (isReplaced && !isEqual(before[key], this.#item[key])) {
        this.#before = { ...this.#before, [key]: before[key] };
      }
    }
    const changed = askedKeys.filter((key) => !isEqual(this.#item[key], before[key]));
    const patch = { ...this.#newArguments(), ...pickDefined(this.#item, changed) };
    if (Object.keys(patch).length > 0) this.#writer.patch(before.id, patch);
  }

  /**
   * Returns new arguments that must be written now. Past the limit, returns none: the call's end then writes the
   * arguments.
   */
  #newArguments(): { arguments?: string } {
    const { arguments: json } = this.#item;
    if (json === this.#written) return {};
    if (this.#replaced + json.length > alwaysWritten + writtenTimes * json.length) return {};
    this.#replaced += json.length;
    this.#written = json;
    return { arguments: json };
  }

  #readContent(content: readonly unknown[], fields: CallFields, source: Source): void {
    const { parts, blocks, diffs, unread } = readToolContent(content);
    for (const value of unread) this.#keep(value);
    const isDescribed = parts.length > 0 || blocks.length > 0;
    if (source === 'request' && this.output.isFromTool) {
      if (isDescribed) this.#keep({ request: { content } });
    } else if (source !== 'request' || isDescribed) {
      this.output.replace(parts, blocks, isOutput(fields, source));
    }
    if (diffs.length === 0) return;
    this.output.hasDiffs = true;
    const before = this.#item;
    this.#item = { ...before, diffs };
    this.#patch(before);
  }

  #readMeta(meta: Record<string, unknown>): void {
    const { terminalId, output, exit, rest } = readTerminalMeta(meta);
    if (terminalId !== undefined) this.output.stream(terminalId, output ?? '', exit);
    if (rest !== undefined) this.#keep({ _meta: rest });
  }

  #keep(raw: unknown): void {
    const seen = hash('sha1', JSON.stringify(raw));
    if (this.#seen.has(seen)) return;
    if (this.#seen.size < maxUnread) this.#seen.add(seen);
    this.#unread.add(raw);
  }
}

/**
 * Returns the description of a call that only its permission request describes; undefined if the request has no
 * description.
 */
export function askedFromRequest(request: unknown): AskedCallInfo | undefined {
  const { name, ...words } = shownFieldsOf(request);
  const isEmptyRequest = name === undefined && Object.keys(words).length === 0;
  return isEmptyRequest ? undefined : { asked: toAskedCall(words, name) };
}

/** Returns the parts of a permission request's call that ACP does not define; undefined if there are none. */
export function unknownFields(request: unknown): unknown {
  if (!isRecord(request)) return request ?? undefined;
  const { fields, rest = {} } = readFields(request, toolCall);
  const content = (fields.content ?? []).filter((value) => !isKnownContent(value));
  const odd = { ...rest, ...(content.length > 0 && { content }) };
  return Object.keys(odd).length === 0 ? undefined : odd;
}

/** Returns those fields of a request that describe the request's call. */
function shownFieldsOf(request: unknown): ShownFields & { name?: string } {
  const { name, title, kind, locations, rawInput, content = [] } = readCall(request).fields;
  const places = readLocations(locations ?? []).locations;
  const { diffs } = readToolContent(content);
  return {
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    ...(kind !== undefined && { kind }),
    ...(!isEmpty(rawInput) && { arguments: toJson(rawInput) }),
    ...(places.length > 0 && { locations: places }),
    ...(diffs.length > 0 && { diffs }),
  };
}

function toAskedCall(words: ShownFields, name: string | undefined): AskedCall {
  const { arguments: json = '{}' } = words;
  return { name: toolNameOf(words, name), arguments: json, ...pickDefined(words, askedKeys) };
}

const withoutEmpty = (item: CallItem): ShownFields => ({
  ...pickDefined(item, askedKeys),
  ...(item.arguments !== '' && { arguments: item.arguments }),
});

/** Returns whether an update's content is output: before the tool runs, content describes the call. */
function isOutput({ status }: CallFields, source: Source): boolean {
  if (source === 'request' || status === 'pending') return false;
  return source === 'update' || status !== undefined;
}

const isEqual = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** When a Stop has ended calls, Droid 0.215 announces each of them again with these fields. */
const placeholder = { title: 'Tool call', kind: 'other' };

const isEmpty = (input: unknown): boolean =>
  input === undefined || input === '' || (isRecord(input) && Object.keys(input).length === 0);

/**
 * Returns the tool's name if the agent sends it, as few agents do; otherwise the call's kind, which the UI can show, or
 * else the call's title.
 */
function toolNameOf({ kind, title }: ShownFields, name: string | undefined): string {
  return name ?? (kind === undefined || kind === 'other' ? title : kind) ?? 'tool';
}
