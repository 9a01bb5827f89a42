/** An agent's counts: its filled context, the session's cost, a turn's tokens. */
import { z } from 'zod';
import type { Usage } from '@liminal/protocol';
import { readFields, type Read } from './fields.ts';

const count = z.number().nonnegative();

const usageUpdate = {
  sessionUpdate: z.string(),
  used: count,
  size: count,
  /** Only dollars have a field; other currencies are kept as they are. */
  cost: z.object({ amount: count, currency: z.literal('USD') }),
};

/** An update's counts, without tokens: those come only at a turn's end, if at all. */
export function readUsageUpdate(update: unknown): {
  usage: Usage;
  rest: Read<typeof usageUpdate>['rest'];
} {
  const { fields, rest } = readFields(update, usageUpdate);
  const usage = {
    inputTokens: 0,
    outputTokens: 0,
    ...(fields.used !== undefined && { contextTokens: fields.used }),
    ...(fields.size !== undefined && { contextWindow: fields.size }),
    ...(fields.cost !== undefined && { costUsd: fields.cost.amount }),
  };
  return { usage, rest };
}

/** Not in the stable protocol, but sent by agents that follow its draft. */
export const TurnUsage = z
  .looseObject({
    inputTokens: count.nullish(),
    outputTokens: count.nullish(),
    cachedReadTokens: count.nullish(),
    cachedWriteTokens: count.nullish(),
  })
  .transform((turn): Usage => {
    const { cachedReadTokens: read, cachedWriteTokens: written } = turn;
    return {
      inputTokens: turn.inputTokens ?? 0,
      outputTokens: turn.outputTokens ?? 0,
      ...(read != null && { cacheReadInputTokens: read }),
      ...(written != null && { cacheCreationInputTokens: written }),
    };
  });
