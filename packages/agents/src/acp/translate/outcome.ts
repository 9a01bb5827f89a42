/** How a turn ended, from the answer to its prompt. */
import { z } from 'zod';
import type { EventPayload } from '@liminal/protocol';
import { readFields } from './fields.ts';

export type Terminal = Extract<EventPayload, { type: 'response_done' | 'response_error' }>;

const promptResponse = { stopReason: z.string() };

export function readOutcome(response: unknown): Terminal {
  const { stopReason } = readFields(response, promptResponse).fields;
  const status = stopReason === 'cancelled' ? 'cancelled' : 'completed';
  return { type: 'response_done', status, finishReason: stopReason ?? null };
}
