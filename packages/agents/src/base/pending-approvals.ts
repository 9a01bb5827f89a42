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
import { errors } from '../contract/errors.ts';

/** A question to people. */
export interface ApprovalQuestion {
  title: string;
  /** Who asks, if not the agent itself: an MCP server or a subagent. */
  askedBy?: string;
  /** The agent's reason for asking. */
  description?: string;
  /** ISO 8601 UTC; after this time the agent continues without an answer. */
  deadline?: string;
  /** The tool call that waits for the answer. */
  callId?: string;
  options: ApprovalOption[];
  /** The form that an allowing answer must fill in. */
  form?: Form;
  /** Names of the call's arguments that the person may change. */
  editable?: string[];
  /** The call to allow, as the request describes it. */
  asked?: AskedCall;
  /** The call's own values where the request differs from them. */
  earlier?: Partial<AskedCall> | undefined;
}

/** A request's description of the call to allow. */
export type AskedCallInfo = Required<Pick<ApprovalQuestion, 'asked'>> &
  Pick<ApprovalQuestion, 'earlier'>;

export interface ApprovalRequest extends ApprovalQuestion {
  approvalId: string;
}

/** Where approvals are shown. */
export interface ApprovalEvents {
  open(request: ApprovalRequest): void;
  close(approvalId: string, outcome: ApprovalOutcome): void;
}

interface PendingQuestion {
  question: ApprovalQuestion;
  settle: (outcome: ApprovalOutcome) => void;
}

/** The largest size of a question without its call, in about characters of JSON. */
const maxQuestion = 1024 * 1024;

/**
 * The largest size of a call in a permission request. The rest of the item's size is reserved for the request itself.
 */
export const maxAsked = maxItemSize / 2;

/** Removes the options that allow the call if the call cannot be shown whole. */
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
  readonly #pending = new Map<string, PendingQuestion>();

  constructor(events: ApprovalEvents) {
    this.#events = events;
  }

  /** Whether people are being asked something. */
  get isAsking(): boolean {
    return this.#pending.size > 0;
  }

  /**
   * Waits for an answer without a limit, unless the agent withdraws the question (`signal`).
   * @param approvalId - The earlier id, if the question is asked again.
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
      throw errors.APPROVAL_NOT_FOUND.over();
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

/** Returns the outcome of an answer to a request with these options. Throws ProviderError `INVALID_OPTION`. */
export function answeredWith(
  options: readonly ApprovalOption[],
  { optionId, content, note }: ApprovalAnswer,
): ApprovalOutcome {
  const chosen = options.find((option) => option.optionId === optionId);
  if (chosen === undefined) {
    const offered = options.map((option) => option.optionId).join(', ');
    throw errors.INVALID_OPTION.answer(optionId, offered);
  }
  const trimmedNote = note?.trim() ?? '';
  if (trimmedNote !== '' && chosen.takesNote !== true) {
    throw errors.INVALID_OPTION.note(chosen.name);
  }
  const words = trimmedNote === '' ? {} : { note: trimmedNote };
  return { outcome: 'selected', optionId, ...(content && { content }), ...words };
}

/**
 * Checks the answer's content: the fields of the form, or the arguments that the person changed. Throws ProviderError
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
  if (problem !== undefined) throw errors.INVALID_OPTION.because(problem);
  return { ...answer, content };
}

function changedArguments(
  editable: readonly string[],
  content: NonNullable<ApprovalAnswer['content']>,
): Pick<ApprovalAnswer, 'content'> {
  for (const [name, value] of Object.entries(content)) {
    if (editable.includes(name) && typeof value === 'string') continue;
    throw errors.INVALID_OPTION.argument(name, editable);
  }
  return Object.keys(content).length === 0 ? {} : { content };
}
