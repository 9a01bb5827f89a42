import { randomUUID } from 'node:crypto';
import {
  type ApprovalAnswer,
  type ApprovalOption,
  type ApprovalOutcome,
  type AskedCall,
  type Form,
  isDepthCut,
  maskSecrets,
  maxItemSize,
  sizeOf,
  withinSize,
  formProblem,
} from '@liminal/protocol';
import { ProviderError } from '../errors.ts';

/** A question to people. */
export interface ApprovalQuestion {
  title: string;
  /** Who asks, if not the agent itself: an MCP server or a subagent. */
  askedBy?: string;
  /** The agent's description of it: why it asks. */
  description?: string;
  /** ISO 8601 UTC; after it the agent continues without an answer. */
  deadline?: string;
  /** The tool call that waits for the answer. */
  callId?: string;
  options: ApprovalOption[];
  /** The form to fill in with an answer that allows. */
  form?: Form;
  /** Names of arguments of the call that the person may change. */
  editable?: string[];
  /** The call that is asked for, by the request itself. */
  asked?: AskedCall;
  /** What the call said before, where the request says something else. */
  earlier?: Partial<AskedCall> | undefined;
}

/** The words of a request about the call that it asks for. */
export type AskedWords = Required<Pick<ApprovalQuestion, 'asked'>> &
  Pick<ApprovalQuestion, 'earlier'>;

export interface ApprovalRequest extends ApprovalQuestion {
  approvalId: string;
}

/** Where approvals are shown. */
export interface ApprovalEvents {
  open(request: ApprovalRequest): void;
  close(approvalId: string, outcome: ApprovalOutcome): void;
}

interface Pending {
  question: ApprovalQuestion;
  settle: (outcome: ApprovalOutcome) => void;
}

/** The largest question, in about the characters of its JSON, besides the call that it asks for. */
const maxQuestion = 1024 * 1024;

/** The largest call in a permission request: the request itself must have room beside it. */
export const maxAsked = maxItemSize / 2;

/** The question without the answers that allow what cannot be shown whole. */
function withoutBlindAnswers(given: ApprovalQuestion): ApprovalQuestion {
  const { asked, options, description } = given;
  if (!asked || (sizeOf(asked, maxAsked) <= maxAsked && !isDepthCut(asked.arguments))) return given;
  const why = 'This cannot be allowed: it is too long, or nested too deeply, to be shown whole.';
  return {
    ...given,
    options: options.filter(({ kind }) => kind.startsWith('reject')),
    description: description === undefined ? why : `${why}\n\n${description}`,
  };
}

/** The open permission requests of one agent. */
export class PendingApprovals {
  readonly #events: ApprovalEvents;
  readonly #pending = new Map<string, Pending>();

  constructor(events: ApprovalEvents) {
    this.#events = events;
  }

  /** Whether people are being asked something. */
  get isAsking(): boolean {
    return this.#pending.size > 0;
  }

  /**
   * Waits for an answer without a limit, unless the agent withdraws the question (`signal`).
   * @param approvalId - Of a question that is asked again.
   */
  async ask(
    given: ApprovalQuestion,
    signal: AbortSignal,
    approvalId: string = randomUUID(),
  ): Promise<ApprovalOutcome> {
    const { asked, earlier, ...rest } = withoutBlindAnswers(given);
    const question = { ...withinSize(rest, maxQuestion), ...(asked && { asked, earlier }) };
    const { promise, resolve: settle } = Promise.withResolvers<ApprovalOutcome>();
    const onAbort = (): void => settle({ outcome: 'cancelled', reason: 'turn_ended' });
    if (signal.aborted) return { outcome: 'cancelled' };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#pending.set(approvalId, { question, settle });
    this.#events.open({ approvalId, ...question });
    const timer = timerAt(question.deadline, () =>
      settle({ outcome: 'cancelled', reason: 'deadline' }),
    );
    const outcome = await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    this.#pending.delete(approvalId);
    this.#events.close(approvalId, maskSecrets(question.form, outcome));
    return outcome;
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    const pending = this.#pending.get(approvalId);
    if (pending === undefined) {
      const message = 'This permission request is over: it was answered, or its turn has ended.';
      throw new ProviderError('APPROVAL_NOT_FOUND', message);
    }
    const { question, settle } = pending;
    settle(answeredWith(question.options, filledIn(question, answer)));
  }

  /** Cancels all open questions. */
  cancelAll(reason: string): void {
    for (const { settle } of this.#pending.values()) settle({ outcome: 'cancelled', reason });
  }
}

function timerAt(deadline: string | undefined, act: () => void): NodeJS.Timeout | undefined {
  if (deadline === undefined) return undefined;
  return setTimeout(act, Math.max(0, Date.parse(deadline) - Date.now()));
}

/** The outcome of a request with these options and this answer. Throws ProviderError `INVALID_OPTION`. */
export function answeredWith(
  options: readonly ApprovalOption[],
  { optionId, content, note }: ApprovalAnswer,
): ApprovalOutcome {
  const chosen = options.find((option) => option.optionId === optionId);
  if (chosen === undefined) {
    const offered = options.map((option) => option.optionId).join(', ');
    const message = `“${optionId}” is no answer to this request. There are: ${offered}.`;
    throw new ProviderError('INVALID_OPTION', message);
  }
  const said = note?.trim() ?? '';
  if (said !== '' && chosen.takesNote !== true) {
    const message = `The agent takes no note with “${chosen.name}”. Answer without it, and send it as a message.`;
    throw new ProviderError('INVALID_OPTION', message);
  }
  const words = said === '' ? {} : { note: said };
  return { outcome: 'selected', optionId, ...(content && { content }), ...words };
}

/**
 * An answer with exactly the fields of the form, or with the arguments that the person has changed. Throws ProviderError
 * `INVALID_OPTION`.
 */
function filledIn(
  { options, form, editable }: ApprovalQuestion,
  { content = {}, ...answer }: ApprovalAnswer,
): ApprovalAnswer {
  const chosen = options.find(({ optionId }) => optionId === answer.optionId);
  if (chosen?.kind.startsWith('allow') !== true) return answer;
  if (editable !== undefined) return { ...answer, ...changedArguments(editable, content) };
  if (form === undefined) return answer;
  const problem = formProblem(form, content);
  if (problem !== undefined) throw new ProviderError('INVALID_OPTION', problem);
  return { ...answer, content };
}

function changedArguments(
  editable: readonly string[],
  content: NonNullable<ApprovalAnswer['content']>,
): Pick<ApprovalAnswer, 'content'> {
  for (const [name, value] of Object.entries(content)) {
    if (editable.includes(name) && typeof value === 'string') continue;
    const message = `“${name}” cannot be changed so. Texts that can be changed here: ${editable.join(', ')}.`;
    throw new ProviderError('INVALID_OPTION', message);
  }
  return Object.keys(content).length === 0 ? {} : { content };
}
