/** How a turn ended, from the answer to its prompt. */
import { z } from 'zod';
import type { Usage } from '@liminal/protocol';
import type { TurnEnd } from '../../base/turn-writer.ts';
import { isRecord, readFields } from './fields.ts';
import type { AcpQuirks } from './quirks.ts';
import { TurnUsage } from './usage.ts';

const promptResponse = {
  stopReason: z.string(),
  usage: TurnUsage,
  _meta: z.record(z.string(), z.unknown()),
};

export interface Outcome {
  stopReason: string | undefined;
  usage: Usage | undefined;
  /** By a quirk: the turn failed, and the agent's last message says why. */
  hasFailed: boolean;
  /** The other fields of the answer. */
  rest: unknown;
}

export function readOutcome(response: unknown, { failureMeta }: AcpQuirks): Outcome {
  const { fields, rest } = readFields(response, promptResponse);
  const { stopReason, usage, _meta: meta } = fields;
  const hasFailed = failureMeta !== undefined && at(meta, failureMeta.path) === failureMeta.value;
  const hasMeta = meta !== undefined && Object.keys(meta).length > 0;
  return { stopReason, usage, hasFailed, rest: hasMeta ? { ...rest, _meta: meta } : rest };
}

/** `lastMessage` is the agent's last message. */
export function endOf(outcome: Outcome, lastMessage: string | undefined): TurnEnd {
  const usage = outcome.usage === undefined ? {} : { usage: outcome.usage };
  const finishReason = outcome.stopReason ?? null;
  if (outcome.hasFailed) {
    const message = lastMessage?.trim() ?? '';
    const error = { code: 'AGENT_ERROR', message: message || 'The agent reported an error.' };
    return { type: 'response_error', error, ...usage };
  }
  const status = finishReason === 'cancelled' ? 'cancelled' : 'completed';
  return { type: 'response_done', status, finishReason, ...usage };
}

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
