import type { ContentBlock, EventDraft, Usage } from '@liminal/protocol';
import type { StoredTurn } from '../../provider.ts';
import { attachedFiles } from './attached-files.ts';
import { summarised } from './compaction.ts';
import { isTaskNews, whyOf } from './origin.ts';
import { isToolUse } from './streamed-message.ts';
import type { TurnEnd } from '../../base/turn-writer.ts';
import type { TranscriptEntry } from './transcript.ts';
import { ClaudeTurn, TurnMemory } from './turn.ts';

type Subagents = ReadonlyMap<string, readonly TranscriptEntry[]>;

interface StoredPrompt {
  turnId: string;
  trigger: 'user' | 'agent';
  /** The user's message. */
  text: string | undefined;
  /** What was attached to it. */
  blocks?: ContentBlock[];
  /** Why the agent began by itself. */
  reason?: string;
  entries: TranscriptEntry[];
}

/** A stored conversation as the turns of its live events; user messages keep their ids as turn ids. */
export function translateTranscript(
  entries: readonly TranscriptEntry[],
  subagents: Subagents,
  cwd: string,
): StoredTurn[] {
  const memory = new TurnMemory();
  return splitTurns(entries).map((prompt) => translateTurn(prompt, subagents, cwd, memory));
}

/** The id of what was said last in a stored turn; undefined if the turn is not there. */
export function endOfTurn(entries: readonly TranscriptEntry[], turnId: string): string | undefined {
  const turn = splitTurns(entries).find((one) => one.turnId === turnId);
  // A summary at a turn's end belongs to the command that asked for it.
  const isSummary = ({ blocks }: TranscriptEntry): boolean =>
    blocks.some(({ text = '' }) => text.startsWith(summaryStart));
  return turn?.entries.findLast((entry) => entry.type !== 'system' && !isSummary(entry))?.uuid;
}

function splitTurns(entries: readonly TranscriptEntry[]): StoredPrompt[] {
  const turns: StoredPrompt[] = [];
  for (const entry of entries) {
    const prompt = readPrompt(entry);
    const current = turns.at(-1);
    if (prompt !== undefined) turns.push({ ...prompt, turnId: entry.uuid, entries: [entry] });
    else if (current !== undefined) current.entries.push(entry);
  }
  return turns;
}

const command = /^<command-name>(\/\S+)<\/command-name>/;
const summaryStart = 'This session is being continued from a previous conversation';
/** Words in the user's name that come from Claude Code. */
const harness =
  /^(\[Request interrupted by user|<local-command-|<bash-|Your response above was cut off mid-stream|Output token limit hit\.|\[Your previous response had no visible output)/;

const isHarness = (text: string): boolean => text.startsWith(summaryStart) || harness.test(text);

/** The start of a turn: a user's words, a command, or why there was one without them. */
function readPrompt(entry: TranscriptEntry): Omit<StoredPrompt, 'turnId' | 'entries'> | undefined {
  if (entry.type !== 'user' || entry.isMeta || entry.isSteered) return undefined;
  const text = textOf(entry);
  const blocks = attachedFiles(entry.blocks);
  if ((text === '' && blocks.length === 0) || isHarness(text)) return undefined;
  const reason = reasonOf(entry, text);
  if (reason !== undefined) return { trigger: 'agent', text: undefined, reason };
  const name = command.exec(text)?.[1];
  if (name === undefined) return { trigger: 'user', text, blocks };
  return { trigger: 'user', text: `${name} ${inElement(text, 'command-args')}`.trim() };
}

/** Why something was said without people, in their words; undefined for what people said. */
const reasonOf = ({ origin }: TranscriptEntry, text: string): string | undefined =>
  taskNotice(text) ?? (isTaskNews(origin) ? undefined : whyOf(origin, text));

/** What Claude Code tells its model about a background task, in people's words; undefined for anything else. */
const taskNotice = (text: string): string | undefined =>
  text.startsWith('<task-notification>') ? inElement(text, 'summary').trim() : undefined;

function tell(turn: ClaudeTurn, notice: string): void {
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
  tell(turn, reason);
  for (const entry of rest) replay(turn, entry, undefined, subagents);
  turn.end(readEnd(entries));
  return { turnId, events };
}

const textOf = ({ blocks }: TranscriptEntry): string =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n');

const isModel = ({ type, model }: TranscriptEntry): boolean =>
  type === 'assistant' && model !== undefined && model !== '<synthetic>';

/** Puts a subagent's own transcript after the call that started it. */
function replay(
  turn: ClaudeTurn,
  entry: TranscriptEntry,
  parentCallId: string | undefined,
  subagents: Subagents,
): void {
  turn.at(entry.timestamp);
  if (entry.type === 'system') {
    if (entry.subtype === 'compact_boundary')
      turn.compact({ state: 'ended', status: 'completed', words: summarised });
    return;
  }
  if (entry.isSteered) {
    const notice = reasonOf(entry, textOf(entry));
    if (notice !== undefined) return tell(turn, notice);
    turn.steer(entry.uuid, textOf(entry), attachedFiles(entry.blocks));
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
    for (const inner of subagents.get(callId) ?? []) replay(turn, inner, callId, subagents);
  }
}

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

/** Each block of an answer repeats the answer's usage. */
function sumUsage(entries: readonly TranscriptEntry[]): Usage {
  const answers = new Map(entries.map((entry) => [entry.messageId, entry.usage]));
  const total = { inputTokens: 0, outputTokens: 0 };
  for (const usage of answers.values()) {
    total.inputTokens += usage?.input_tokens ?? 0;
    total.outputTokens += usage?.output_tokens ?? 0;
  }
  return total;
}

/** The text of the first element with this name; empty without one. */
function inElement(text: string, name: string): string {
  const [start, end] = [`<${name}>`, `</${name}>`];
  const from = text.indexOf(start);
  const to = from < 0 ? -1 : text.indexOf(end, from);
  return to < 0 ? '' : text.slice(from + start.length, to);
}
