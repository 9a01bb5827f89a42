/** Reads how a turn ended from the answer to its prompt. */
import { z } from 'zod';
import type { Usage } from '@liminal/protocol';
import type { TurnEnd } from '../../../base/turn-writer.ts';
import { readableDetail } from '../errors.ts';
import { readFields } from './fields.ts';
import { TurnUsage } from './usage.ts';

const promptResponse = {
  stopReason: z.string(),
  usage: TurnUsage,
  _meta: z.record(z.string(), z.unknown()),
};

export interface Outcome {
  stopReason: string | undefined;
  usage: Usage | undefined;
  /** The answer's fields besides the stop reason and the usage. */
  rest: unknown;
}

export function readOutcome(response: unknown): Outcome {
  const { fields, rest } = readFields(response, promptResponse);
  const { stopReason, usage, _meta: meta } = fields;
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return { stopReason, usage, rest: hasMeta ? { ...rest, _meta: meta } : rest };
}

/** Returns the turn's end. If the turn failed, the reason is `lastMessage`, the agent's last message. */
export function toTurnEnd(
  { stopReason, usage: counted }: Outcome,
  hasFailed: boolean,
  lastMessage: string | undefined,
): TurnEnd {
  const usage = counted === undefined ? {} : { usage: counted };
  const finishReason = stopReason ?? null;
  if (finishReason === 'cancelled') {
    return { type: 'response_done', status: 'cancelled', finishReason, ...usage };
  }
  if (!hasFailed) return { type: 'response_done', status: 'completed', finishReason, ...usage };
  const message = readableDetail(lastMessage?.trim() ?? '') || 'The agent reported an error.';
  return { type: 'response_error', error: { code: 'AGENT_ERROR', message }, ...usage };
}
