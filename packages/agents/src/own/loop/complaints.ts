/** Recognizes model servers' errors about a conversation by the known messages of each server, for every API. Pure. */
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';
import { isThought, type Loss, type Rule } from './concessions.ts';
import { bytesOf } from './sendable.ts';

/** A server's error response, in OpenAI's fields; other servers set only some of these fields. */
export interface Complaint {
  /** The HTTP status, or the status in an error within a stream. */
  status: number | undefined;
  /** The server's own message, at most 2,000 characters. */
  words: string;
  code: string;
  type: string;
  /** The name of the request field that caused the error. */
  param: string;
  /** The whole error body. */
  body: unknown;
}

/**
 * The parts of a conversation that are left out or converted for a server that rejects them. A file is a block; all
 * other parts are items.
 */
export interface Concession {
  rules?: readonly Rule[];
  lost?: Partial<Record<Loss, readonly (OutputItem | ContentBlock)[]>>;
  /** The field in which the server expects a call's reasoning. */
  reasoningField?: string;
}

/** Returns whether a chat template has rejected the conversation; llama.cpp reports that with status 500. */
const isOfTemplate = ({ words }: Complaint): boolean =>
  /jinja|chat template|template (error|exception)|raise_exception/i.test(words);

const failsToRead =
  /(?:cannot|can't|could not|failed to|unable to) (?:identify|load|decode|process|read|open)/gi;
const aFile = /image|picture|audio|video|pdf|media|\bfile/i;
const isBadFile =
  /(invalid|unsupported|corrupt|corrupted|broken|unknown|truncated) (image|picture|audio|pdf|media)|image: unknown format/i;

/** Returns whether the server cannot read a file; vLLM and Ollama report that with status 500. */
const isOfBrokenFile = ({ words }: Complaint): boolean =>
  isBadFile.test(words) || isFollowedBy(words, failsToRead, aFile, 45);

/**
 * Returns whether `second` matches within `most` characters after a match of `first`. `first` must be global. One
 * combined regular expression would take quadratic time.
 */
function isFollowedBy(words: string, first: RegExp, second: RegExp, most: number): boolean {
  for (const { 0: found, index } of words.matchAll(first)) {
    const end = index + found.length;
    if (second.test(words.slice(end, end + most))) return true;
  }
  return false;
}

/** Returns whether the conversation may be the cause of an error that mentions no part of the conversation. */
export const mayBeOfContent = (complaint: Complaint, isUnknown: boolean): boolean =>
  (complaint.status ?? 0) >= 500
    ? isOfTemplate(complaint) || isOfBrokenFile(complaint)
    : isUnknown && [400, 413, 415, 422].includes(complaint.status ?? 0);

/** Returns the concessions that would avoid the error, the smallest one first; empty for an unknown message. */
export function concessionsFor(
  complaint: Complaint,
  conversation: readonly OutputItem[],
  body: object,
): Concession[] {
  const { words, code, status } = complaint;
  if ([401, 402, 403, 429].includes(status ?? 0)) return [];
  const found: Concession[] = [];
  const file = filesOf(conversation, namedIn(complaint, body));
  if (file.length > 0) found.push({ lost: { file } });
  const isRefused = refusedFiles(complaint);
  if (isRefused !== undefined) found.push({ lost: { file: filesOf(conversation, isRefused) } });
  if (status === 413) found.push({ lost: { file: filesOf(conversation) } });
  if (isOfThinking(complaint)) found.push({ lost: { thought: conversation.filter(isThought) } });
  if (code === '3280' || ids.test(words)) found.push({ rules: ['ids'] });
  if (code === '3230' || turns.test(words)) found.push({ rules: ['turns'] });
  if (isOfMaker(words)) {
    found.push({ lost: { thought: conversation.filter(isThought), fields: conversation } });
  }
  const [reasoningField] = isOfWanted(words) ? (/reasoning(_content)?/i.exec(words) ?? []) : [];
  if (reasoningField !== undefined) found.push({ reasoningField: reasoningField.toLowerCase() });
  if (/missing a.{0,20}thought_?signature/i.test(words)) {
    found.push({ lost: { call: conversation.filter(({ raw }) => raw === undefined) } });
  }
  return found;
}

/** Errors about call ids: of Mistral and its templates, OpenAI and Anthropic. */
const ids =
  /(tool|function).?(call|use).{0,12}\bids?\b.{0,160}(length|alphanumeric|a-z|must be|match|pattern)|call_id.{0,80}(too long|pattern|length)/i;
const turns =
  /roles must alternate|(un)?expected (last )?role|role '?user'? after|must (start|begin|end) with a user|does not support assistant message prefill|last message must/i;
/** Fields that only one maker's server sends with a call or a message. */
const fieldOfMaker = /\b(?:reasoning_details|extra_content|encrypted_content|phase)\b/gi;
const notKnown =
  /extra|unsupported|not (permitted|allowed|supported)|unknown|unexpected|unrecognized/i;
const notKnownBefore = /extra|unsupported|unknown|unexpected|unrecognized/gi;
const fieldAfter = /\b(?:reasoning_details|extra_content|encrypted_content|phase)\b/i;

/** Returns whether the error is about a field that came from another maker's server. */
const isOfMaker = (words: string): boolean =>
  isFollowedBy(words, fieldOfMaker, notKnown, 95) ||
  isFollowedBy(words, notKnownBefore, fieldAfter, 100);

const anyReasoning = /reasoning(?:_content)?\b/gi;
const mustBeThere = /must be (passed|provided|present)|is (missing|required)|missing in/i;
const missing = /missing/gi;
const reasoningAfter = /reasoning(?:_content)?\b/i;

/**
 * Returns whether the error demands a field with earlier reasoning; the messages are those of DeepSeek and Moonshot.
 */
const isOfWanted = (words: string): boolean =>
  isFollowedBy(words, anyReasoning, mustBeThere, 95) ||
  isFollowedBy(words, missing, reasoningAfter, 50);

/**
 * Returns whether the server rejects or cannot read the thinking in the conversation, because another server wrote the
 * thinking, or because something before the thinking has changed. Anthropic documents the error under “Fix a thinking
 * block bound to a different conversation”.
 */
const isOfThinking = ({ code, words }: Complaint): boolean =>
  code === 'invalid_encrypted_content' ||
  /encrypted content .*could not be (verified|decrypted)/i.test(words) ||
  /(signature|data)`? in `?(redacted_)?thinking|thinking.{0,80}(different conversation|cannot be modified)/i.test(
    words,
  ) ||
  // llama.cpp rejects reasoning that is not text.
  words.includes("item['content'] is not an array");

type IsMeant = (block: ContentBlock, item: OutputItem) => boolean;

/**
 * Returns the files of a conversation that an error is about; undefined if the error is about no file. Most of the
 * known messages are llama.cpp's, with status 400 and 500; two are vLLM's, one is OpenRouter's, and
 * `unsupported_format` is OpenAI's code for a file that is not audio.
 */
function refusedFiles({ code, words }: Complaint): IsMeant | undefined {
  const [, one, other] =
    /\b(image|audio)(?: input is not supported|\(s\) may be provided)|support (image|audio) input/i.exec(
      words,
    ) ?? [];
  const kind = one ?? other;
  if (kind !== undefined) return ({ type }) => type === kind.toLowerCase();
  if (code === 'unsupported_format') return ({ type }) => type === 'audio';
  if (words.includes('is not a multimodal model')) return () => true;
  if (words.includes("Output of tool call should be 'Input text'")) {
    return (_block, { type }) => type === 'function_call_output';
  }
  const isOfFiles = /'input_file' is not supported|unsupported content\[\]\.type/.test(words);
  return isOfFiles ? ({ type }) => type === 'resource' : undefined;
}

/** Returns the blocks of a conversation that contain bytes. */
export const filesOf = (
  conversation: readonly OutputItem[],
  isMeant: IsMeant = () => true,
): ContentBlock[] =>
  conversation.flatMap((item) =>
    item.type === 'message' || item.type === 'function_call_output'
      ? (item.blocks ?? []).filter((block) => bytesOf(block) !== undefined && isMeant(block, item))
      : [],
  );

const ofFiles = /image|picture|media|pdf|document|\bfile|audio|base64|pixel/i;
/** Matches the path of a part of the request: `messages.3.content.1.image`, `input[2].content[0].image_url`. */
const place = /\b(?:messages|input)(?:\.\w+|\[\w+\])+/g;

/** Returns a test for blocks: whether the error contains the path of the block. */
function namedIn({ words, param }: Complaint, body: object): IsMeant {
  const text = `${words} ${param}`;
  if (!ofFiles.test(text)) return () => false;
  const places = text.match(place) ?? [];
  const parts = places.map((path) => JSON.stringify(partAt(body, path.split(/[.[\]]+/)) ?? null));
  return (block) => parts.some((part) => part.includes(bytesOf(block) ?? part));
}

/** Returns the innermost value on a path. Skips names of types that the server has inserted into the path. */
function partAt(body: object, path: readonly string[]): unknown {
  let at: unknown = body;
  let depth = 0;
  for (const name of path) {
    const inner: unknown = Array.isArray(at)
      ? at[Number(name)]
      : isRecord(at)
        ? at[name]
        : undefined;
    if (typeof inner !== 'object' || inner === null) continue;
    at = inner;
    depth += 1;
  }
  return depth < 2 ? undefined : at;
}
