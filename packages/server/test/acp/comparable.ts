/**
 * Converts the two turns at the ends of an ACP connection to forms that must be equal: the turn that Liminal's ACP
 * agent sends, and the turn that Liminal's ACP provider reads. Ids and times are left out. The comments in this file
 * give the reason for each other difference.
 */
import type { OutputItem, Response } from '@liminal/protocol';

type Values = Record<string, unknown>;

/**
 * Returns the turn at the agent's end of the connection. `repeatsPlan`: the turn ends with the plan that the session
 * showed last.
 */
export function agentTurn(whole: Response, repeatsPlan = false): Values {
  const response = repeatsPlan ? withoutPlan(whole) : whole;
  const items = response.outputItems.flatMap((item) => inAcp(item, response));
  return turnOf(response, isSilent(response) && !repeatsPlan ? [...items, silence] : items);
}

/** Returns the turn at the client's end of the connection. */
export function clientTurn(whole: Response, repeatsPlan = false): Values {
  const response = repeatsPlan ? withoutPlan(whole) : whole;
  return turnOf(response, response.outputItems);
}

/**
 * Removes the plan of a turn whose plan is the session's last plan, because a repeated plan is not sent again. If the
 * turn had another plan before, that plan may not have been sent either. Without the plan, the turn may have nothing to
 * show.
 */
function withoutPlan(response: Response): Response {
  const outputItems = response.outputItems.filter(
    (item) =>
      item.type !== 'plan' && !(item.type === 'message' && item.content === silence.content),
  );
  return { ...response, outputItems };
}

/** Whether a turn has nothing to show. The provider adds a message to a turn without content. */
const isSilent = ({ status, finishReason, outputItems }: Response): boolean =>
  status === 'complete' &&
  finishReason === 'end_turn' &&
  outputItems.every((item) => item.type === 'message' && item.origin === 'user');

const silence = {
  type: 'message',
  id: 'silence',
  origin: 'system',
  content: 'Liminal ended its turn without an answer.',
  startedAt: '',
  endedAt: '',
} as const;

function turnOf({ status, finishReason, error, usage }: Response, items: OutputItem[]): Values {
  const calls = items.filter(({ type }) => type === 'function_call');
  const names = new Map(
    calls.map((call, index) => [call.type === 'function_call' ? call.callId : '', `call ${index}`]),
  );
  return {
    status,
    // A turn that ended with an error has no other finish reason. The provider's error message contains the agent's
    // error message.
    finishReason: error === undefined ? finishReason : null,
    hasFailed: error !== undefined,
    usage: usage ?? noUsage,
    // Items of several calls may end in another order than they began. The order within each call stays the same.
    items: items.map((item) => comparable(item, names)).toSorted(byPlace),
  };
}

/** ACP counts a turn's tokens only at its end, and a turn without tokens has no usage. */
const noUsage = { inputTokens: 0, outputTokens: 0 };

/** Sorts the items of calls after all other items: by call, then by type. */
function byPlace(a: Values, b: Values): number {
  const [one, other] = [a, b].map(({ callId = '', type }) =>
    callId === '' ? '' : `${String(callId)} ${String(type)}`,
  );
  return (one ?? '').localeCompare(other ?? '', 'en', { numeric: true });
}

function comparable(item: OutputItem, names: ReadonlyMap<string, string>): Values {
  const { id: _, startedAt: _s, endedAt: _e, raw: _r, parentCallId: parent, ...own } = item;
  const rest = { ...own, ...(parent !== undefined && { parentCall: names.get(parent) }) };
  const of = 'callId' in item ? item.callId : undefined;
  const callId = of === undefined ? {} : { callId: names.get(of) };
  switch (item.type) {
    case 'function_call':
      return { ...rest, ...callId, diffs: item.diffs ?? [], locations: item.locations ?? [] };
    case 'function_call_output':
      return { ...outputOf(item), ...callId };
    case 'approval': {
      // A permission request of ACP always contains the fields of its call, so `asked` and `earlier` are not compared.
      const { approvalId: _a, asked: _w, earlier: _b, ...question } = rest as typeof item;
      return { ...question, ...callId, ...(item.form && formAnswer(item)) };
    }
    case 'message':
    case 'reasoning': {
      // ACP does not mark the end of a message. Therefore the last message of a failed turn ends only with the turn.
      const { error: _f, ...said } = rest as typeof item;
      return { ...said, blocks: ('blocks' in item ? item.blocks : undefined) ?? [] };
    }
    default:
      return rest;
  }
}

/**
 * Compares the answer to a form without the names of the options, which ACP lacks, and with the type `object`, which
 * ACP adds.
 */
function formAnswer({ form, outcome, options }: Extract<OutputItem, { type: 'approval' }>): Values {
  const chosen = outcome?.outcome === 'selected' ? outcome : undefined;
  const { kind = '' } = options.find(({ optionId }) => optionId === chosen?.optionId) ?? {};
  const { content = {} } = chosen ?? {};
  return { form: { ...form, type: 'object' }, options: [], outcome: { kind, content } };
}

type Output = Extract<OutputItem, { type: 'function_call_output' }>;

/**
 * Converts a tool's error. In Liminal, the error is a part of the output or a field of its own. In ACP, a failed call
 * has only a status, and the error is in its raw output. An output has the same parent subagent as its call.
 */
function outputOf({ type, output, success, error, blocks = [], exitCode }: Output): Values {
  return {
    type,
    output: output === '' ? (error?.message ?? '') : output,
    success: success && error === undefined,
    blocks,
    exitCode: exitCode ?? null,
  };
}

/** Converts items of types that ACP lacks to types that ACP has. */
function inAcp(item: OutputItem, response: Response): OutputItem[] {
  switch (item.type) {
    case 'function_call': {
      // If a call has no title, its title is its name. If a call has no kind, its kind is `other`.
      const { title = item.name, kind = 'other' } = item;
      const call = { ...item, title, kind };
      const { callId } = item;
      const isAnswered = response.outputItems.some((one) => isOutput(one) && one.callId === callId);
      return isAnswered ? [call] : [call, unanswered(callId, response)];
    }
    case 'approval': {
      if (item.callId !== undefined) return [item];
      // ACP asks questions only about calls. A question without a call is therefore compared as a call whose output is
      // the answer.
      const { id: callId, title, outcome } = item;
      const base = { type: 'function_call', id: callId, callId, name: title, title } as const;
      const call = { ...base, kind: 'other', arguments: '{}', origin: 'agent' } as const;
      const isAllowed = outcome?.outcome === 'selected' && outcome.optionId === 'yes';
      const output = outputItem(callId, isAllowed ? 'Yes' : 'No', isAllowed);
      return [call, { ...item, callId }, output];
    }
    case 'script_execution': {
      const { id, code } = item;
      const base = {
        type: 'function_call',
        id,
        callId: id,
        name: 'script',
        title: 'Script',
      } as const;
      const input = JSON.stringify({ code });
      return [{ ...base, kind: 'execute', arguments: input, origin: 'agent' }];
    }
    case 'script_execution_output':
      return [outputItem(item.scriptId, item.result, item.success)];
    case 'error': {
      const { id, message } = item;
      return [{ type: 'message', id, origin: 'system', content: `Error: ${message}` }];
    }
    default:
      return [item];
  }
}

const isOutput = (item: OutputItem): item is Output => item.type === 'function_call_output';

const outputItem = (callId: string, output: string, success: boolean): Output => ({
  type: 'function_call_output',
  id: `${callId}-out`,
  callId,
  output,
  success,
  origin: 'tool_harness',
});

/**
 * In ACP, a call ends with a status. The provider converts the status to an output: an empty output, or the reason why
 * the call has no output.
 */
function unanswered(callId: string, { status, error }: Response): Output {
  if (status === 'complete') return outputItem(callId, '', true);
  const why = error?.message ?? 'The turn was cancelled before this tool answered.';
  return outputItem(callId, why, false);
}
