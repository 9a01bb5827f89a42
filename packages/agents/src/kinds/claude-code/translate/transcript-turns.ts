import { z } from 'zod';
import type { ContentBlock, EventDraft, Usage } from '@liminal/protocol';
import type { StoredTurn } from '../../../contract/provider.ts';
import { summarised } from './compaction.ts';
import { inElement } from './in-element.ts';
import { isTaskReport, describeOrigin } from './origin.ts';
import { isToolUse } from './streamed-message.ts';
import type { TurnEnd } from '../../../base/turn-writer.ts';
import { textOfBlocks, type TranscriptEntry } from './transcript.ts';
import { ClaudeTurn, isCompacted, TurnMemory } from './turn.ts';

const Bytes = z.looseObject({
  type: z.literal('base64'),
  media_type: z.string(),
  data: z.string(),
});
const Text = z.looseObject({ type: z.literal('text'), media_type: z.string(), data: z.string() });
const Attached = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('image'), source: Bytes }),
  z.looseObject({
    type: z.literal('document'),
    title: z.string().nullish(),
    source: z.discriminatedUnion('type', [Bytes, Text]),
  }),
]);

type Subagents = ReadonlyMap<string, readonly TranscriptEntry[]>;

interface StoredPrompt {
  turnId: string;
  trigger: 'user' | 'agent';
  /** The user's message. */
  text: string | undefined;
  /** The message's attachments. */
  blocks?: ContentBlock[];
  /** Why the agent began the turn by itself. */
  reason?: string;
  /** Set if the turn's beginning is missing. */
  isCut?: true;
  entries: TranscriptEntry[];
}

/** Translates a stored conversation to the same turns as its live events; user messages' ids become turn ids. */
export function translateTranscript(
  entries: readonly TranscriptEntry[],
  subagents: Subagents,
  cwd: string,
): StoredTurn[] {
  const memory = new TurnMemory();
  return splitTurns(entries).map((prompt) => translateTurn(prompt, subagents, cwd, memory));
}

/** Returns the id of the last message of a stored turn; undefined if the turn is not stored. */
export function endOfTurn(entries: readonly TranscriptEntry[], turnId: string): string | undefined {
  const turn = splitTurns(entries).find((one) => one.turnId === turnId);
  return turn?.entries.findLast(({ type, isSummary }) => type !== 'system' && !isSummary)?.uuid;
}

function splitTurns(entries: readonly TranscriptEntry[]): StoredPrompt[] {
  const turns: StoredPrompt[] = [];
  for (const entry of reorderCompactions(entries)) {
    const prompt = readPrompt(entry);
    const current = turns.at(-1);
    if (prompt !== undefined) turns.push({ ...prompt, turnId: entry.uuid, entries: [entry] });
    else if (current !== undefined) current.entries.push(entry);
    // The file lacks the beginning of this turn.
    else if (isShownWithoutTurn(entry)) {
      const begun = { trigger: 'agent', text: undefined, turnId: entry.uuid } as const;
      turns.push({ ...begun, entries: [entry], isCut: true });
    }
  }
  return turns;
}

/** Moves a `/compact` command before its compaction, because Claude Code stores the command after the compaction. */
function reorderCompactions(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const ordered: TranscriptEntry[] = [];
  let compaction: TranscriptEntry[] = [];
  for (const entry of entries) {
    const isOfCompaction =
      isBoundary(entry) ||
      (compaction.length > 0 && (entry.isSummary === true || entry.isMeta || isNote(entry)));
    if (isBoundary(entry) || !isOfCompaction) {
      const isAsked =
        !isOfCompaction && command.exec(textOfBlocks(entry.blocks))?.[1] === '/compact';
      if (isAsked) ordered.push(entry, ...compaction);
      else ordered.push(...compaction);
      compaction = isOfCompaction ? [entry] : [];
      if (!isAsked && !isOfCompaction) ordered.push(entry);
    } else compaction.push(entry);
  }
  return [...ordered, ...compaction];
}

const isBoundary = ({ subtype }: TranscriptEntry): boolean => subtype === 'compact_boundary';
/** Returns whether the entry is one of Liminal's notes about the file. */
const isNote = ({ type, subtype }: TranscriptEntry): boolean =>
  type === 'system' && subtype === 'note';

/** Returns whether an entry is shown even if the beginning of its turn is missing. */
function isShownWithoutTurn(entry: TranscriptEntry): boolean {
  const { type, isMeta, isSummary, blocks } = entry;
  if (isBoundary(entry)) return true;
  if (isMeta || isSummary === true || blocks.length === 0) return false;
  if (type !== 'user' || blocks.some((block) => block.type !== 'text')) return true;
  return output.test(textOfBlocks(blocks)) || entry.isSteered === true;
}

const output = /^<(?:local-command|bash)-std(?:out|err)>/;
const command = /^<command-name>(\/\S+)<\/command-name>/;
/** Matches texts in the user's name that Claude Code itself wrote. */
const harness =
  /^(\[Request interrupted by user|<local-command-|<bash-std|Your response above was cut off mid-stream|Output token limit hit\.|\[Your previous response had no visible output)/;

/**
 * Returns the start of a turn if the entry begins a turn, that is, if the entry is a user's message, a command, or the
 * reason why the agent began the turn. Returns undefined for other entries.
 */
function readPrompt(entry: TranscriptEntry): Omit<StoredPrompt, 'turnId' | 'entries'> | undefined {
  const { isMeta, isSteered, isSummary } = entry;
  if (entry.type !== 'user' || isMeta || isSteered || isSummary) return undefined;
  const text = textOfBlocks(entry.blocks);
  const blocks = attachedFiles(entry.blocks);
  if ((text === '' && blocks.length === 0) || harness.test(text)) return undefined;
  const reason = reasonOf(entry, text);
  if (reason !== undefined) return { trigger: 'agent', text: undefined, reason };
  if (text.startsWith('<bash-input>')) {
    return { trigger: 'user', text: `! ${inElement(text, 'bash-input')}` };
  }
  const name = command.exec(text)?.[1];
  if (name === undefined) return { trigger: 'user', text, blocks };
  return { trigger: 'user', text: `${name} ${inElement(text, 'command-args')}`.trim() };
}

/** Returns a text for people about the origin of a message; undefined if a person sent the message. */
const reasonOf = ({ origin }: TranscriptEntry, text: string): string | undefined =>
  taskNotice(text) ?? (isTaskReport(origin) ? undefined : describeOrigin(origin, text));

/** Returns the summary of a report about a background task; undefined for other texts. */
const taskNotice = (text: string): string | undefined =>
  text.startsWith('<task-notification>') ? inElement(text, 'summary').trim() : undefined;

function addNotice(turn: ClaudeTurn, notice: string): void {
  if (notice !== '') turn.notice(notice);
}

function translateTurn(
  prompt: StoredPrompt,
  subagents: Subagents,
  cwd: string,
  memory: TurnMemory,
): StoredTurn {
  const events: EventDraft[] = [];
  const { turnId, trigger, text, blocks, reason = '', entries } = prompt;
  const modelId = entries.find(isModel)?.model ?? 'unknown';
  const turn = new ClaudeTurn({ turnId, trigger, modelId }, cwd, memory, (draft) =>
    events.push(draft),
  );
  const [first, ...rest] = entries;
  turn.begin(first?.timestamp ?? '', text, blocks);
  addNotice(turn, reason);
  const last = entries.findLast(({ type }) => type === 'assistant');
  for (const entry of prompt.isCut === true ? entries : rest) {
    // If the last message is an error, the error becomes the turn's end and not a notice.
    if (isSynthetic(entry) && entry !== last) addNotice(turn, textOfBlocks(entry.blocks));
    else replayEntry(turn, entry, undefined, subagents);
  }
  turn.end(readEnd(entries));
  return { turnId, events };
}

const isSynthetic = ({ model }: TranscriptEntry): boolean => model === '<synthetic>';

const isModel = ({ type, model }: TranscriptEntry): boolean =>
  type === 'assistant' && model !== undefined && model !== '<synthetic>';

/** Translates an entry, and then the transcripts of the subagents that the entry started. */
function replayEntry(
  turn: ClaudeTurn,
  entry: TranscriptEntry,
  parentCallId: string | undefined,
  subagents: Subagents,
): void {
  turn.at(entry.timestamp);
  if (entry.type === 'system') {
    if (isBoundary(entry)) {
      return turn.compact({ state: 'ended', status: 'completed', words: summarised });
    }
    if (entry.isMeta) return;
    const text = textOfBlocks(entry.blocks);
    if (entry.subtype !== 'local_command') return addNotice(turn, text);
    return replayOutput(turn, entry, text);
  }
  if (entry.isSummary === true) return;
  if (entry.isSteered) {
    const notice = reasonOf(entry, textOfBlocks(entry.blocks));
    if (notice !== undefined) return addNotice(turn, notice);
    turn.steer(entry.uuid, textOfBlocks(entry.blocks), attachedFiles(entry.blocks));
    return turn.settle(entry.uuid, 'taken');
  }
  const { messageId: id, blocks: content, model = '' } = entry;
  const parent = { parent_tool_use_id: parentCallId };
  if (entry.type === 'user') return turn.user({ type: 'user', message: { content }, ...parent });
  if (model === '<synthetic>') return;
  turn.assistant({ type: 'assistant', message: { id, model, content }, ...parent });
  for (const block of content) {
    const callId = isToolUse(block.type) ? block.id : undefined;
    if (callId === undefined) continue;
    for (const inner of subagents.get(callId) ?? []) replayEntry(turn, inner, callId, subagents);
  }
}

/** Translates the output of a command. The output is shown as a message of the agent. */
function replayOutput(turn: ClaudeTurn, { uuid }: TranscriptEntry, stored: string): void {
  const printed = ['stdout', 'stderr'].map((name) => inElement(stored, `local-command-${name}`));
  const text = printed.filter((one) => one.trim() !== '').join('\n') || withoutElements(stored);
  if (isCompacted(text)) return;
  const content = [{ type: 'text', text }];
  turn.assistant({ type: 'assistant', message: { id: uuid, model: '', content } });
}

/** Returns the text, or '' if the text is an element that contains a command's output. */
const withoutElements = (text: string): string => (text.startsWith('<local-command-') ? '' : text);

function readEnd(entries: readonly TranscriptEntry[]): TurnEnd {
  const inUsersName = entries.filter(({ type }) => type === 'user');
  const texts = inUsersName.flatMap(({ blocks }) => blocks.map((block) => block.text ?? ''));
  const usage = sumUsage(entries);
  if (texts.some((text) => text.startsWith('[Request interrupted by user'))) {
    return { type: 'response_done', status: 'cancelled', finishReason: 'cancelled', usage };
  }
  const last = entries.findLast(({ type }) => type === 'assistant');
  const lastText = last?.blocks[0]?.text ?? '';
  if (last?.model === '<synthetic>' && lastText !== '') {
    return { type: 'response_error', error: { code: 'AGENT_ERROR', message: lastText }, usage };
  }
  return { type: 'response_done', status: 'completed', finishReason: 'end_turn', usage };
}

/**
 * Returns the sum of the usage of all answers. Each block of an answer repeats the answer's usage, so each answer
 * counts once.
 */
function sumUsage(entries: readonly TranscriptEntry[]): Usage {
  const answers = new Map(entries.map((entry) => [entry.messageId, entry.usage]));
  let [plain, output, read, written] = [0, 0, 0, 0];
  for (const usage of answers.values()) {
    plain += usage?.input_tokens ?? 0;
    output += usage?.output_tokens ?? 0;
    read += usage?.cache_read_input_tokens ?? 0;
    written += usage?.cache_creation_input_tokens ?? 0;
  }
  return {
    inputTokens: plain + read + written,
    outputTokens: output,
    ...(read > 0 && { cacheReadInputTokens: read }),
    ...(written > 0 && { cacheCreationInputTokens: written }),
  };
}

/** Returns the images and files of a stored message, without the message's other parts. */
function attachedFiles(parts: readonly unknown[]): ContentBlock[] {
  return parts.flatMap((part): ContentBlock[] => {
    const read = Attached.safeParse(part).data;
    if (read === undefined) return [];
    const { data, media_type: mimeType } = read.source;
    if (read.type === 'image') return [{ type: 'image', mimeType, data }];
    const name = read.title ?? 'Document';
    const content = read.source.type === 'text' ? { text: data } : { blob: data };
    return [{ type: 'resource', resource: { uri: name, name, mimeType, ...content } }];
  });
}
