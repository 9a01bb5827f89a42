/** Reads the entries of Claude Code's stored transcripts. */
import { withinDepth } from '@liminal/protocol';
import { z } from 'zod';
import { NativeBlock } from './native.ts';
import { Origin } from './origin.ts';

const StoredEntry = z.looseObject({
  type: z.enum(['user', 'assistant', 'system', 'attachment']),
  uuid: z.string(),
  message: z
    .looseObject({
      id: z.string().optional(),
      model: z.string().optional(),
      content: z.union([z.string(), z.array(NativeBlock)]).optional(),
      usage: z
        .looseObject({
          input_tokens: z.number().nullish(),
          output_tokens: z.number().nullish(),
          cache_read_input_tokens: z.number().nullish(),
          cache_creation_input_tokens: z.number().nullish(),
        })
        .nullish(),
    })
    .nullish(),
  parent_tool_use_id: z.string().nullish(),
  /** The SDK's types lack this field. */
  timestamp: z.string().optional(),
  subtype: z.string().optional().catch(undefined),
  /** The text of a system entry. */
  content: z.string().optional().catch(undefined),
  isCompactSummary: z.boolean().optional().catch(undefined),
  isMeta: z.boolean().optional(),
  origin: Origin.optional().catch(undefined),
  attachment: z
    .looseObject({
      type: z.string(),
      prompt: z.union([z.string(), z.array(NativeBlock)]).optional(),
      /** The `uuid` with which the message was sent. */
      source_uuid: z.string().optional(),
      origin: Origin.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export interface TranscriptEntry {
  type: 'user' | 'assistant' | 'system';
  uuid: string;
  /** ISO 8601 UTC. */
  timestamp: string;
  parentCallId: string | undefined;
  subtype: string | undefined;
  /** Whether the message is in the user's name but only for the model. */
  isMeta: boolean;
  /** Set for the summary that a compaction makes, with which Claude Code continues. */
  isSummary?: true;
  /** Who or what sent the message, if known. */
  origin?: Origin | undefined;
  /** Set for a message that arrived during a turn: from a person, or about a background task. */
  isSteered?: true;
  messageId: string;
  model: string | undefined;
  blocks: NativeBlock[];
  usage:
    | {
        input_tokens?: number | null | undefined;
        output_tokens?: number | null | undefined;
        cache_read_input_tokens?: number | null | undefined;
        cache_creation_input_tokens?: number | null | undefined;
      }
    | undefined;
}

/** Returns the readable entries; an entry without a time gets the previous entry's time. */
export function readTranscript(entries: readonly unknown[]): TranscriptEntry[] {
  let timestamp = new Date(0).toISOString();
  return entries.flatMap((value) => {
    const entry = StoredEntry.safeParse(withinDepth(value)).data;
    if (entry === undefined) return [];
    timestamp = entry.timestamp ?? timestamp;
    const { type, uuid, subtype, message, attachment } = entry;
    if (type === 'attachment') return steered(uuid, timestamp, attachment);
    const content = message?.content ?? entry.content ?? [];
    return [
      {
        type,
        uuid,
        timestamp,
        subtype,
        isMeta: entry.isMeta === true,
        ...(isSummaryOf(entry) && { isSummary: true as const }),
        ...(entry.origin && { origin: entry.origin }),
        parentCallId: entry.parent_tool_use_id ?? undefined,
        messageId: message?.id ?? uuid,
        model: message?.model,
        blocks: blocksOf(content),
        usage: message?.usage ?? undefined,
      },
    ];
  });
}

type Attachment = z.infer<typeof StoredEntry>['attachment'];

function steered(uuid: string, timestamp: string, attachment: Attachment): TranscriptEntry[] {
  const { type, prompt, source_uuid: sent = uuid, origin } = attachment ?? {};
  if (type !== 'queued_command' || prompt === undefined) return [];
  const rest = { subtype: undefined, parentCallId: undefined, model: undefined, usage: undefined };
  const message = { uuid: sent, messageId: sent, blocks: blocksOf(prompt) };
  const from = origin && { origin };
  return [
    { type: 'user', timestamp, isMeta: false, isSteered: true, ...from, ...rest, ...message },
  ];
}

const blocksOf = (content: string | NativeBlock[]): NativeBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const summaryStart = 'This session is being continued from a previous conversation';
export const isSummaryText = (text: string): boolean => text.startsWith(summaryStart);

/** Returns the text of a stored message. */
export const messageText = ({ message }: { message?: unknown }): string =>
  textOfBlocks(blocksOf(StoredMessage.safeParse(message).data?.content ?? []));

export const textOfBlocks = (blocks: readonly NativeBlock[]): string =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])).join('\n');

const StoredMessage = z.looseObject({ content: z.union([z.string(), z.array(NativeBlock)]) });

const isSummaryOf = (entry: z.infer<typeof StoredEntry>): boolean =>
  entry.type === 'user' && (entry.isCompactSummary === true || isSummaryText(messageText(entry)));
