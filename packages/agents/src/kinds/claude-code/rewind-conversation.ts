/** Rewinds the conversation of a running Claude Code, as its own terminal does with Esc Esc or /rewind. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';
import { mainEntries, readRaw } from './raw-transcript.ts';

const RewindAnswer = z.looseObject({
  response: z.looseObject({
    rewound: z.boolean(),
    reason: z.string().optional().catch(undefined),
    error: z.string().optional().catch(undefined),
  }),
});

/**
 * Refusals after which the request is repeated: Claude Code has not yet written its file, or is still ending a turn.
 */
const temporaryRefusals = new Set([
  'commands_queued',
  'persist_failed',
  'stale_target',
  'state_changed',
  'turn_running',
  'unseen_later_turn',
]);
/** How often the request is tried, and the pause between tries, ms. */
const tries = 10;
const pauseMs = 200;

interface RewindRequest {
  agentSessionId: string;
  projectDir: string;
  /** The turns to remove, oldest first. */
  turnIds: readonly string[];
}

/**
 * Rewinds the conversation to before the turns. Does nothing if Claude Code has none of the turns. Throws ProviderError
 * `CANNOT_REWIND`.
 */
export async function rewindConversation(query: Query, wanted: RewindRequest): Promise<void> {
  for (let left = tries; ; left -= 1) {
    const place = await findTarget(wanted);
    if (place === undefined) return;
    const { rewound, reason = '', error = reason } = await requestRewind(query, place);
    if (rewound) return;
    if (left > 1 && temporaryRefusals.has(reason)) await delay(pauseMs);
    else
      throw reason === 'target_not_found'
        ? errors.CANNOT_REWIND.summarised()
        : errors.CANNOT_REWIND.reported('Claude Code', `${error}.`);
  }
}

interface RewindTarget {
  /** The first message to remove. */
  target: string;
  /**
   * The newest entry that Liminal knows. Claude Code refuses the rewind if the conversation has newer entries, so that
   * no entry is removed that Liminal has not seen.
   */
  newest: string | undefined;
}

async function findTarget({
  agentSessionId,
  projectDir,
  turnIds,
}: RewindRequest): Promise<RewindTarget | undefined> {
  const transcript = await readRaw(agentSessionId, projectDir);
  if (transcript === undefined) return undefined;
  const main = mainEntries(transcript);
  const known = new Set(transcript.entries.map(({ uuid }) => uuid));
  const target = turnIds.find((id) => known.has(id));
  if (target === undefined) return undefined;
  return { target, newest: transcript.entries.findLast(({ uuid }) => main.has(uuid))?.uuid };
}

async function requestRewind(query: Query, { target, newest }: RewindTarget) {
  // Claude Code supports this request, though the SDK has no method for it.
  const request: unknown = Reflect.get(query, 'request');
  if (typeof request !== 'function') throw errors.CANNOT_REWIND.unsupported();
  const asked = {
    subtype: 'rewind_conversation',
    target_message_uuid: target,
    last_seen_user_message_uuid: newest,
  };
  const answer: unknown = await Promise.resolve(request.call(query, asked)).catch(
    (error: unknown) => {
      throw errors.CANNOT_REWIND.notRewound({ cause: error });
    },
  );
  const parsed = RewindAnswer.safeParse(answer).data;
  if (parsed === undefined) throw errors.CANNOT_REWIND.unreadable();
  return parsed.response;
}
