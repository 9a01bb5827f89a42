/** Reads an agent's counts: the context in use, the session's cost, a turn's tokens. */
import { z } from 'zod';
import type { Usage } from '@liminal/protocol';
import { readFields, type Read } from './fields.ts';

const count = z.number().nonnegative();

const usageUpdate = {
  sessionUpdate: z.string(),
  used: count,
  size: count,
  /** Liminal has a field only for US dollars; costs in other currencies are kept as raw values. */
  cost: z.object({ amount: count, currency: z.literal('USD') }),
};

/**
 * Reads an update's counts. The counts of input and output tokens are 0: agents report them only at a turn's end, if at
 * all.
 */
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

/** The usage of a turn. The stable protocol lacks this field, but agents that follow the draft send it. */
export const TurnUsage = z
  .looseObject({
    inputTokens: count.nullish(),
    outputTokens: count.nullish(),
    cachedReadTokens: count.nullish(),
    cachedWriteTokens: count.nullish(),
    totalTokens: count.nullish(),
  })
  .transform((turn): Usage => {
    const { cachedReadTokens: read, cachedWriteTokens: written } = turn;
    return {
      inputTokens: wholeInput(turn),
      outputTokens: turn.outputTokens ?? 0,
      ...(read != null && { cacheReadInputTokens: read }),
      ...(written != null && { cacheCreationInputTokens: written }),
    };
  });

interface Counts {
  inputTokens?: number | null | undefined;
  outputTokens?: number | null | undefined;
  cachedReadTokens?: number | null | undefined;
  cachedWriteTokens?: number | null | undefined;
  totalTokens?: number | null | undefined;
}

/**
 * Returns all input tokens. Some agents do not count cached tokens (read or written) as input tokens. Such an agent is
 * recognised by its total, or by an input count that is smaller than its count of cached tokens.
 */
function wholeInput({ totalTokens: total, ...counts }: Counts): number {
  const input = counts.inputTokens ?? 0;
  const cached = (counts.cachedReadTokens ?? 0) + (counts.cachedWriteTokens ?? 0);
  const apart = input + cached + (counts.outputTokens ?? 0);
  const isApart =
    total == null ? counts.inputTokens != null && input < cached : cached > 0 && total >= apart;
  return isApart ? input + cached : input;
}
