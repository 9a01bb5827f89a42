/** An agent's questions to people: permission requests, and forms or links (elicitation). */
import { ApprovalOption } from '@liminal/protocol';
import { z } from 'zod';
import type { Ask, ElicitationAnswer, Elicitations } from '../../../base/elicitations.ts';
import type { ApprovalQuestion } from '../../../base/pending-approvals.ts';
import { pickFields } from '../translate/fields.ts';
import { unknownFields } from '../translate/tool-call.ts';
import { readToolContent } from '../translate/tool-content.ts';
import { invalidParams } from './client-error.ts';

/**
 * If the kind of an option is unknown, the option counts as a refusal, so that nothing is allowed by mistake, and is
 * never the default.
 */
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
 * Serves `session/request_permission`. `showCall` gets all fields of the tool call, shows the call, and returns its
 * description for the request. Throws ClientError.
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
  if (!request.success) throw invalidParams('“options” are missing or not valid.');
  const { toolCall, options } = request.data;
  const call = showCall(toolCall);
  const { title = 'Allow this?', content = [] } = pickFields(toolCall, described);
  const { asked } = call;
  const odd = unknownFields(toolCall);
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

/** Makes `mcp__server__tool` readable. Qwen Code 0.24 describes an MCP server's tool only by its input. */
const toolLabel = (name: string): string => name.replace(/^mcp__(.+?)__(?=.)/, '$1: ');

/** Returns the text in a request's content; diffs and other content are shown with the call. */
const wordsIn = (content: readonly unknown[]): string =>
  readToolContent(content)
    .parts.flatMap((part) => ('text' in part ? [part.text] : []))
    .join('\n\n');

const ToolCallId = z.looseObject({ toolCallId: z.string() });

/** Serves `elicitation/create`: a form to fill in, or a link to open. Throws ClientError. */
export async function elicit(
  params: unknown,
  elicitations: Elicitations,
  signal: AbortSignal,
): Promise<ElicitationAnswer> {
  const callId = ToolCallId.safeParse(params).data?.toolCallId;
  const answer = await elicitations.elicit(params, signal, callId === undefined ? {} : { callId });
  if (answer !== undefined) return answer;
  throw invalidParams('The request is neither a valid form nor a valid link.');
}
