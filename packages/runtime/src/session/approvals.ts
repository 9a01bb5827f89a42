import {
  type ApprovalAnswer,
  defaultOption,
  type EventDraft,
  formProblem,
} from '@liminal/protocol';
import { errors, errorCode, RuntimeError } from '../errors.ts';
import type { SessionContext } from './session-context.ts';

type ApprovalsContext = Pick<
  SessionContext,
  'settings' | 'changed' | 'warn' | 'cliType' | 'now' | 'meter' | 'cluster' | 'sessionId'
>;

/** The agent and the conversation that the requests come from. */
interface ApprovalSource {
  answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void>;
  /**
   * Returns whether the conversation contains the request: an earlier owner of the session may have shown the request.
   */
  wasAsked(approvalId: string): Promise<boolean>;
}

/** How many finished requests are remembered. */
const maxFinished = 100;

interface PendingApproval {
  /** ISO 8601 UTC. */
  askedAt: string;
  answered: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A session's permission requests. Any client can answer a request; the first answer wins. */
export class Approvals {
  readonly #context: ApprovalsContext;
  readonly #source: ApprovalSource;
  readonly #stopTurn: () => Promise<void>;
  readonly #pending = new Map<string, PendingApproval>();
  /**
   * The ids of the newest finished requests: an answer to one of them is rejected with `APPROVAL_ALREADY_ANSWERED`
   * instead of `APPROVAL_NOT_FOUND`.
   */
  readonly #finished = new Set<string>();

  constructor(context: ApprovalsContext, source: ApprovalSource, stopTurn: () => Promise<void>) {
    this.#context = context;
    this.#source = source;
    this.#stopTurn = stopTurn;
  }

  get isWaiting(): boolean {
    return this.waitingSince !== undefined;
  }

  /** The number of requests that wait for an answer. */
  get count(): number {
    return [...this.#pending.values()].filter(({ answered }) => !answered).length;
  }

  /** When the oldest open request was made (ISO 8601 UTC). */
  get waitingSince(): string | undefined {
    return [...this.#pending.values()].find((pending) => !pending.answered)?.askedAt;
  }

  /**
   * Records permission requests and their ends in a draft, and starts a request's deadline. Returns the draft for the
   * log.
   */
  track(draft: EventDraft): EventDraft {
    const { payload } = draft;
    if (payload.type === 'item_start' && payload.itemType === 'approval') {
      return this.#addPending(draft, payload);
    }
    if (payload.type === 'item_done' && payload.finalItem.type === 'approval') {
      this.#close(payload.finalItem.approvalId);
    }
    if (payload.type === 'response_done' || payload.type === 'response_error') this.closeAll();
    return draft;
  }

  /**
   * Throws `APPROVAL_NOT_FOUND`, `APPROVAL_ALREADY_ANSWERED`, `STALE_OWNER` if another server has taken the session, or
   * the agent's error.
   */
  async answer(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    const pending = this.#pending.get(approvalId);
    if (!pending) throw await this.#whyNotPending(approvalId);
    if (pending.answered) throw errors.APPROVAL_ALREADY_ANSWERED.answered();
    pending.answered = true;
    try {
      const { cluster, sessionId } = this.#context;
      if (cluster && !(await cluster.holds(sessionId))) throw errors.STALE_OWNER.givenUp();
      await this.#source.answerApproval(approvalId, answer);
    } catch (error) {
      pending.answered = false;
      // The agent withdrew the request a moment ago.
      throw errorCode(error) === 'APPROVAL_NOT_FOUND'
        ? errors.APPROVAL_ALREADY_ANSWERED.answered()
        : error;
    } finally {
      this.#context.changed();
    }
  }

  async #whyNotPending(approvalId: string): Promise<RuntimeError> {
    if (this.#finished.has(approvalId) || (await this.#source.wasAsked(approvalId))) {
      return errors.APPROVAL_ALREADY_ANSWERED.answered();
    }
    return errors.APPROVAL_NOT_FOUND.unknown(approvalId);
  }

  closeAll(): void {
    for (const approvalId of this.#pending.keys()) this.#close(approvalId);
  }

  #addPending(
    draft: EventDraft,
    payload: EventDraft['payload'] & { type: 'item_start' },
  ): EventDraft {
    const { deadlineMs } = this.#context.settings.approvals;
    const approvalId = payload.approvalId ?? payload.itemId;
    const answer = deadlineMs > 0 ? this.#defaultAnswer(approvalId, payload) : undefined;
    this.#pending.set(approvalId, {
      askedAt: draft.timestamp,
      answered: false,
      timer: answer && this.#answerLater(approvalId, answer),
    });
    this.#context.changed();
    if (!answer || payload.deadline !== undefined) return draft;
    const deadline = new Date(Date.parse(draft.timestamp) + deadlineMs).toISOString();
    return { ...draft, payload: { ...payload, deadline } };
  }

  /** Sends the policy's answer; undefined if the policy has none. */
  #defaultAnswer(
    approvalId: string,
    { options = [], form }: EventDraft['payload'] & { type: 'item_start' },
  ): (() => Promise<void>) | undefined {
    const { fallback } = this.#context.settings.approvals;
    const option = defaultOption(options, fallback);
    if (option === undefined) return fallback === 'reject' ? this.#stopTurn : undefined;
    const asksForm = fallback === 'allow' && form && formProblem(form, {}) !== undefined;
    if (asksForm) return undefined;
    return async () => this.answer(approvalId, { optionId: option.optionId });
  }

  #answerLater(approvalId: string, answer: () => Promise<void>): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#pending.get(approvalId)?.answered !== false) return;
      answer().catch((error: unknown) => {
        this.#context.warn(error, 'a permission request could not be answered');
      });
    }, this.#context.settings.approvals.deadlineMs);
  }

  #close(approvalId: string): void {
    const pending = this.#pending.get(approvalId);
    if (!pending) return;
    clearTimeout(pending.timer);
    const { meter, cliType, now } = this.#context;
    meter?.approvalEnded(cliType, Math.max(0, now() - Date.parse(pending.askedAt)) / 1_000);
    this.#pending.delete(approvalId);
    this.#finished.add(approvalId);
    const [oldest] = this.#finished;
    if (oldest !== undefined && this.#finished.size > maxFinished) this.#finished.delete(oldest);
    this.#context.changed();
  }
}
