/** An agent's questions to people: for permission, and for answers that only they know. */
import { ApprovalOption } from '@liminal/protocol';
import { z } from 'zod';
import type { Ask, ElicitationAnswer, Elicitations } from '../../base/elicitations.ts';
import type { ApprovalQuestion } from '../../base/pending-approvals.ts';
import { pickFields } from '../translate/fields.ts';
import { oddWords } from '../translate/tool-call.ts';
import { readToolContent } from '../translate/tool-content.ts';
import { invalidParams } from './client-error.ts';

/** An unknown kind counts as a refusal, so that nothing is allowed by mistake. A default never chooses it. */
const Option = z
  .looseObject({
    optionId: z.string(),
    name: z.string().catch(''),
    kind: ApprovalOption.shape.kind.optional().catch(undefined),
  })
  .transform(({ optionId, name, kind }): ApprovalOption => {
    const shown = { optionId, name: name === '' ? optionId : name };
    return kind === undefined
      ? { ...shown, kind: 'reject_once', isUnclear: true }
      : { ...shown, kind };
  });

const PermissionRequest = z.looseObject({
  toolCall: z.unknown(),
  options: z.array(Option),
});

const described = { title: z.string(), content: z.array(z.unknown()) };

export interface PermissionAnswer {
  outcome: { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string };
}

/**
 * `session/request_permission`, with all fields of its tool call: `showCall` shows the call first and returns what is asked for.
 * Throws ClientError.
 */
export async function requestPermission(
  params: unknown,
  ask: Ask,
  showCall: (
    toolCall: unknown,
  ) => Pick<ApprovalQuestion, 'callId' | 'asked' | 'earlier' | 'askedBy'>,
  signal: AbortSignal,
): Promise<PermissionAnswer> {
  const request = PermissionRequest.safeParse(params);
  if (!request.success) throw invalidParams('“options” are missing, or not as ACP has them.');
  const { toolCall, options } = request.data;
  const call = showCall(toolCall);
  const { title = 'Allow this?', content = [] } = pickFields(toolCall, described);
  const { asked } = call;
  const odd = oddWords(toolCall);
  const description = [wordsIn(content), odd === undefined ? '' : JSON.stringify(odd, null, 2)]
    .filter((words) => words !== '')
    .join('\n\n');
  if (options.length === 0) return { outcome: { outcome: 'cancelled' } };
  const outcome = await ask(
    {
      title: asked?.arguments === title ? toolLabel(asked.name) : title,
      options,
      ...(description !== '' && { description }),
      ...call,
    },
    signal,
  );
  return outcome.outcome === 'selected'
    ? { outcome: { outcome: 'selected', optionId: outcome.optionId } }
    : { outcome: { outcome: 'cancelled' } };
}

/** `mcp__server__tool` as people read it. Qwen Code 0.24 asks for such a tool by its input alone. */
const toolLabel = (name: string): string => name.replace(/^mcp__(.+?)__(?=.)/, '$1: ');

/** The words in a request's content; diffs and the like are shown with its call. */
const wordsIn = (content: readonly unknown[]): string =>
  readToolContent(content)
    .parts.flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n\n');

const ToolCallId = z.looseObject({ toolCallId: z.string() });

/** `elicitation/create`: a form to fill in, or a link to open. Throws ClientError. */
export async function elicit(
  params: unknown,
  elicitations: Elicitations,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const callId = ToolCallId.safeParse(params).data?.toolCallId;
  const answer = await elicitations.elicit(params, signal, callId === undefined ? {} : { callId });
  if (answer !== undefined) return answer;
  throw invalidParams('This is neither a form nor a link as ACP has them.');
}
