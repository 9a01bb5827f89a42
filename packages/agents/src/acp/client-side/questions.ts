/** What an agent asks people: for permission, and for what only they know. */
import type { ApprovalOption, ApprovalOutcome } from '@liminal/protocol';
import { Form } from '@liminal/protocol';
import { z } from 'zod';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';
import { invalidParams } from './client-error.ts';

export type Ask = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalOutcome>;

/** Whatever is not known here is a refusal's kin: nothing is allowed by mistake. */
const Option = z.looseObject({
  optionId: z.string(),
  name: z.string().catch(''),
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']).catch('reject_once'),
});

const PermissionRequest = z.looseObject({
  toolCall: z.looseObject({ title: z.string().nullish().catch(undefined) }).catch({}),
  options: z.array(Option),
});

export interface PermissionAnswer {
  outcome: { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string };
}

/**
 * `session/request_permission`, with all that its tool call tells: `showCall` shows the call first and gives its id.
 * Throws ClientError.
 */
export async function requestPermission(
  params: unknown,
  ask: Ask,
  showCall: (toolCall: unknown) => string | undefined,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const request = PermissionRequest.safeParse(params);
  if (!request.success) throw invalidParams('“options” are missing, or not as ACP has them.');
  const { toolCall, options } = request.data;
  const callId = showCall(toolCall);
  if (options.length === 0) return { outcome: { outcome: 'cancelled' } };
  const outcome = await ask(
    {
      title: toolCall.title ?? 'Allow this?',
      options: options.map(({ optionId, name, kind }) => ({
        optionId,
        name: name === '' ? optionId : name,
        kind,
      })),
      ...(callId !== undefined && { callId }),
    },
    signal,
  );
  return outcome.outcome === 'selected'
    ? { outcome: { outcome: 'selected', optionId: outcome.optionId } }
    : { outcome: { outcome: 'cancelled' } };
}

const Elicitation = z.discriminatedUnion('mode', [
  z.looseObject({ mode: z.literal('form'), message: z.string(), requestedSchema: Form }),
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
]);
const ToolCallId = z.looseObject({ toolCallId: z.string() });

export type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' };

const formOptions: ApprovalOption[] = [
  { optionId: 'accept', name: 'Send', kind: 'allow_once' },
  { optionId: 'decline', name: 'Decline', kind: 'reject_once' },
];
const linkOptions: ApprovalOption[] = [
  { optionId: 'accept', name: 'I have opened the link', kind: 'allow_once' },
  { optionId: 'decline', name: 'Decline', kind: 'reject_once' },
];

/** The id of a link that is asked to be opened; a form has none. */
export const readLinkId = (params: unknown): string | undefined =>
  z.looseObject({ mode: z.literal('url'), elicitationId: z.string() }).safeParse(params).data
    ?.elicitationId;

/** `elicitation/create`: a form to fill in, or a link to open. Throws ClientError. */
export async function elicit(
  params: unknown,
  ask: Ask,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const request = Elicitation.safeParse(params);
  if (!request.success) throw invalidParams('This is neither a form nor a link as ACP has them.');
  const callId = ToolCallId.safeParse(params).data?.toolCallId;
  const question =
    request.data.mode === 'form'
      ? { title: request.data.message, options: formOptions, form: request.data.requestedSchema }
      : { title: `${request.data.message}\n${request.data.url}`, options: linkOptions };
  const outcome = await ask({ ...question, ...(callId !== undefined && { callId }) }, signal);
  if (outcome.outcome === 'cancelled') return { action: 'cancel' };
  if (outcome.optionId !== 'accept') return { action: 'decline' };
  return outcome.content === undefined
    ? { action: 'accept' }
    : { action: 'accept', content: outcome.content };
}
