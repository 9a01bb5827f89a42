/** The entries of a session's file in Claude Code's store, including abandoned branches. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { LineSplitter } from '@liminal/protocol';
import { z } from 'zod';
import { isSummaryText, messageText } from './translate/transcript.ts';
import { findFile } from './transcript-marks.ts';
import { readGlued } from './glued-lines.ts';

const Flag = z.boolean().optional().catch(undefined);
const Id = z.string().nullish().catch(undefined);

const RawEntry = z.looseObject({
  type: z.string(),
  uuid: z.string(),
  parentUuid: Id,
  /** Only a summary has this field: the id of the entry before the summary. A summary has no parent. */
  logicalParentUuid: Id,
  isSidechain: Flag,
  /** A message in the user's name that is only for the model. */
  isMeta: Flag,
  isCompactSummary: Flag,
  message: z.unknown().optional(),
  timestamp: z.unknown().optional(),
});
export type RawEntry = z.infer<typeof RawEntry>;

const LastPrompt = z.looseObject({
  type: z.literal('last-prompt'),
  leafUuid: Id,
  rewound: Flag,
});
const Title = z.looseObject({ type: z.literal('summary'), summary: z.string() });

export interface RawTranscript {
  /**
   * The entries in the order in which they were written, by whatever process. Each entry has a unique id and names an
   * earlier entry as its parent, except the first. Where the file is unreadable or incomplete, there are notes.
   */
  entries: RawEntry[];
  /** Subagents' entries in this file (older versions of Claude Code), by conversation. */
  sidechains: RawEntry[][];
  /** The last entry that a process recorded as its position: a resumed Claude Code continues after this entry. */
  leaf: string | undefined;
  /**
   * The entry to which the conversation was last rewound; '' if the conversation was rewound to its beginning.
   * Undefined if there was no rewind, or if messages followed the rewind.
   */
  rewoundTo: string | undefined;
}

/**
 * If a file's last line has no line end and the file changed less than this long ago (ms), the line is assumed to be
 * unfinished.
 */
const writingMs = 5_000;

/** Reads a session's file; undefined if the file does not exist. */
export async function readRaw(
  sessionId: string,
  projectDir: string,
): Promise<RawTranscript | undefined> {
  const path = await findFile(sessionId, projectDir);
  if (path === undefined) return undefined;
  const chain = new TranscriptBuilder();
  const isSettled = Date.now() - (await stat(path)).mtimeMs > writingMs;
  for await (const { text, isTerminated: isWhole } of readLines(path)) {
    for (const piece of readGlued(text)) {
      if ('value' in piece) chain.add(piece.value);
      else if (isWhole || isSettled) chain.addUnreadable(piece.unreadable);
    }
  }
  return chain.end();
}

/** Links the entries of a file, and adds notes for missing parts. */
class TranscriptBuilder {
  readonly #entries: RawEntry[] = [];
  readonly #sidechains: RawEntry[] = [];
  /** The entries so far by their id in the file; the newest if several share an id. */
  readonly #known = new Map<string, RawEntry>();
  #last: RawEntry | undefined;
  #leaf = '';
  #rewoundTo: string | undefined;
  #title: string | undefined;
  #made = 0;
  #hasSpoken = false;
  /** Whether the file lacks the entries that the next summary replaces. */
  #isSummaryAlone = false;

  add(value: unknown): void {
    const place = LastPrompt.safeParse(value).data;
    this.#leaf = place?.leafUuid ?? this.#leaf;
    if (place?.rewound === true) this.#rewoundTo = place.leafUuid ?? '';
    this.#title = Title.safeParse(value).data?.summary ?? this.#title;
    const parsed = RawEntry.safeParse(value).data;
    if (parsed === undefined) return;
    const entry = slim(parsed);
    const earlier = this.#known.get(entry.uuid);
    // Some versions write an entry again after a compaction.
    if (earlier !== undefined && contentKey(earlier) === contentKey(entry)) return;
    const id = earlier === undefined ? {} : { uuid: `${entry.uuid}:${++this.#made}` };
    if (entry.isSidechain === true) {
      const parentUuid = this.#known.get(entry.parentUuid ?? '')?.uuid;
      this.#sidechains.push(this.#keep(entry.uuid, { ...entry, ...id, parentUuid }));
      return;
    }
    const parentUuid = earlier?.uuid ?? this.#parentOf(entry);
    this.#push(this.#keep(entry.uuid, { ...entry, ...id, parentUuid }));
    if (!isSummary(entry)) return;
    if (this.#isSummaryAlone) this.#note(messageText(entry));
    this.#isSummaryAlone = false;
  }

  addUnreadable(characters: number): void {
    const size = characters.toLocaleString('en-GB');
    this.#note(`A part of Claude Code’s file cannot be read here (${size} characters).`);
  }

  end(): RawTranscript {
    if (this.#title !== undefined && !this.#hasSpoken) {
      this.#note(`Claude Code’s file has only a title of this conversation: ${this.#title}`);
    }
    const leaf = this.#known.get(this.#leaf)?.uuid;
    const rewoundTo = this.#rewoundTo;
    const sidechains = conversationsOf(this.#sidechains);
    return { entries: this.#entries, sidechains, leaf, rewoundTo };
  }

  /**
   * Returns the id of an entry's parent. If the entry names no parent, or the file lacks the parent, returns the id of
   * the entry that was written before.
   */
  #parentOf(entry: RawEntry): string | undefined {
    const named = entry.parentUuid ?? entry.logicalParentUuid ?? undefined;
    const parent = this.#known.get(named ?? '');
    if (parent !== undefined && parent.isSidechain !== true) return parent.uuid;
    const isBoundary = entry['subtype'] === 'compact_boundary';
    const isOfCompaction = isBoundary || isSummary(entry);
    const isBeginning = !this.#hasSpoken;
    if (isOfCompaction) this.#isSummaryAlone = isBeginning || named !== undefined;
    // The last entry is a note that already reports the missing part.
    if (this.#last?.['subtype'] === note) return this.#last.uuid;
    if (isBeginning && (named !== undefined || isOfCompaction)) this.#note(noBeginning);
    else if (named !== undefined) this.#note(gap);
    else if (!isBeginning && !isOfCompaction && isSpoken(entry)) this.#note(secondRoot);
    return this.#last?.uuid;
  }

  #note(content: string): void {
    const uuid = `${this.#last?.uuid ?? 'file'}:note${++this.#made}`;
    const parentUuid = this.#last?.uuid;
    const timestamp = this.#last?.timestamp;
    this.#push({
      type: 'system',
      subtype: note,
      uuid,
      parentUuid,
      content,
      timestamp,
      message: undefined,
    });
  }

  #keep(fileUuid: string, entry: RawEntry): RawEntry {
    this.#known.set(fileUuid, entry);
    return entry;
  }

  #push(entry: RawEntry): void {
    this.#entries.push(entry);
    this.#last = entry;
    this.#hasSpoken ||= isSpoken(entry);
    if (isSpoken(entry)) this.#rewoundTo = undefined;
  }
}

const note = 'note';
const noBeginning = 'The beginning of this conversation is missing in Claude Code’s file.';
const gap = 'A part of this conversation is missing in Claude Code’s file.';
const secondRoot =
  'A new conversation begins here in Claude Code’s file. Claude Code does not know the earlier messages.';

/** Returns the entry without the fields that only Claude Code needs. These fields make up most of a large file. */
function slim(entry: RawEntry): RawEntry {
  const { type, uuid, parentUuid, logicalParentUuid, isSidechain, isMeta } = entry;
  const { isCompactSummary, message, subtype, content, origin, timestamp } = entry;
  const { attachment, toolUseResult, forkedFrom } = entry;
  const links = { type, uuid, parentUuid, logicalParentUuid, isSidechain, forkedFrom };
  if (type === 'attachment' && !isQueued(attachment)) return links;
  const body = { message, content, attachment, origin, subtype, timestamp };
  const hasResult = toolUseResult !== undefined;
  return { ...links, ...body, isMeta, isCompactSummary, hasResult };
}

const isQueued = (attachment: unknown): boolean =>
  z.looseObject({ type: z.literal('queued_command') }).safeParse(attachment).success;

const contentKey = ({ type, message, content, attachment }: RawEntry): string =>
  JSON.stringify([type, message, content, attachment]);

/** Groups entries by conversation: an entry belongs to the conversation of its parent. */
function conversationsOf(entries: readonly RawEntry[]): RawEntry[][] {
  const found = new Map<string, RawEntry[]>();
  for (const entry of entries) {
    const conversation = found.get(entry.parentUuid ?? '') ?? [];
    conversation.push(entry);
    found.set(entry.uuid, conversation);
  }
  return [...new Set(found.values())];
}

/** Returns the ids of the entries that a resumed Claude Code continues, including entries that it has summarised. */
export function mainEntries({ entries, leaf, rewoundTo }: RawTranscript): Set<string> {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const tip = entries.findLast(isSpoken) ?? entries.at(-1);
  const newest = pathTo(byId, tip?.uuid);
  // Claude Code resumes at the recorded position, and uses the entries that were written after it.
  const isNoted = leaf !== undefined && !newest.has(leaf);
  const place = rewoundTo ?? (isNoted ? endAfter(entries, leaf) : undefined);
  const main = place === undefined ? newest : pathTo(byId, place);
  const messages = new Set<unknown>();
  for (const entry of entries) {
    if (!main.has(entry.uuid) && !isBeside(entry, main, messages)) continue;
    main.add(entry.uuid);
    messages.add(messageId(entry));
  }
  return main;
}

/** Returns the ids of an entry and all its ancestors. */
function pathTo(byId: ReadonlyMap<string, RawEntry>, uuid: string | undefined): Set<string> {
  const path = new Set<string>();
  for (let at = byId.get(uuid ?? ''); at; at = byId.get(at.parentUuid ?? '')) path.add(at.uuid);
  return path;
}

/** Returns the id of the last message among the descendants of an entry. */
function endAfter(entries: readonly RawEntry[], place: string): string {
  const after = new Set([place]);
  let end = place;
  for (const entry of entries) {
    if (!after.has(entry.parentUuid ?? '')) continue;
    after.add(entry.uuid);
    if (isSpoken(entry)) end = entry.uuid;
  }
  return end;
}

/**
 * Returns whether an entry without children belongs to the conversation although the entry is not an ancestor of the
 * conversation's last entry: the result of a parallel call, a note, or a command's output.
 */
function isBeside(
  entry: RawEntry,
  path: ReadonlySet<string>,
  messages: ReadonlySet<unknown>,
): boolean {
  if (!path.has(entry.parentUuid ?? '')) return false;
  const isOfMessage = messageId(entry) !== undefined && messages.has(messageId(entry));
  return !isSpoken(entry) || entry['hasResult'] === true || isOfMessage;
}

const messageId = ({ message }: RawEntry): unknown =>
  z.looseObject({ id: z.string() }).safeParse(message).data?.id;

/**
 * Returns the branches of a conversation that are not part of `main`. A branch contains the entries after the point
 * where the branch leaves `main`, oldest first. Each entry is in exactly one branch.
 */
export function branchesOf(entries: readonly RawEntry[], main: ReadonlySet<string>): RawEntry[][] {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const left = entries.filter(({ uuid }) => !main.has(uuid));
  const owner = new Map<string, string>();
  for (const tip of left.toReversed()) {
    for (let at: RawEntry | undefined = tip; at && !main.has(at.uuid);) {
      if (owner.has(at.uuid)) break;
      owner.set(at.uuid, tip.uuid);
      at = byId.get(at.parentUuid ?? '');
    }
  }
  return [...Map.groupBy(left, ({ uuid }) => owner.get(uuid)).values()];
}

const isSummary = (entry: RawEntry): boolean =>
  entry.isCompactSummary === true || (entry.type === 'user' && isSummaryText(messageText(entry)));

const isSpoken = ({ type, isMeta }: RawEntry): boolean =>
  (type === 'user' || type === 'assistant') && isMeta !== true;

interface FileLine {
  text: string;
  /** Whether the line has a line end. */
  isTerminated: boolean;
}

async function* readLines(path: string): AsyncGenerator<FileLine> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const lines = new LineSplitter();
  const chunks = createReadStream(path, { highWaterMark: 1024 * 1024 });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true });
    for (const line of lines.push(text)) yield { text: line, isTerminated: true };
  }
  if (lines.rest !== '') yield { text: lines.rest, isTerminated: false };
}
