/** The reason why a silent turn of Claude Code waits. */
import { z } from 'zod';

const Retry = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.number(),
  max_retries: z.number(),
  retry_delay_ms: z.number(),
  /** Null if the API did not answer. */
  error_status: z.number().nullish(),
  no_response: z.looseObject({ waited_ms: z.number() }).nullish(),
});
type Retry = z.infer<typeof Retry>;

/** Types of messages that show that the turn no longer waits. */
const resuming = new Set<unknown>(['stream_event', 'assistant', 'user', 'result']);

/**
 * Returns a sentence for people if the message says that the turn waits, '' if the turn no longer waits, and undefined
 * for all other messages.
 */
export function readActivity(message: unknown): string | undefined {
  if (typeof message !== 'object' || message === null || !('type' in message)) return undefined;
  if (resuming.has(message.type)) return '';
  const retry = Retry.safeParse(message).data;
  return retry && `${retryProblem(retry)} ${attemptOf(retry)}`;
}

function retryProblem({ error_status: status, no_response: silence }: Retry): string {
  if (silence != null) return `The model has not answered for ${seconds(silence.waited_ms)}.`;
  if (status == null) return 'The model cannot be reached.';
  if (status === 529) return 'The model is overloaded (529).';
  if (status === 429) return 'The model rejects further requests for now (429).';
  return `The model’s service has failed (${status}).`;
}

function attemptOf({ retry_delay_ms: delay, attempt, max_retries: most }: Retry): string {
  const when = delay < 1_000 ? 'now' : `in ${seconds(delay)}`;
  return `Trying again ${when} (attempt ${attempt} of ${most}).`;
}

const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))} s`;
