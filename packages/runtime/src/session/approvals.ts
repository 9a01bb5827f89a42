import type { ApprovalAnswer, ApprovalOption, EventDraft } from '@liminal/protocol';
import { RuntimeError } from '../errors.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionContext } from './session-context.ts';

/** What happens to a permission request without an answer. */
export interface ApprovalPolicy {
  /** ms; 0 waits without a limit. */
  deadlineMs: number;
  /** The answer that is then given. */
  fallback: 'reject' | 'allow';
}

type ApprovalsContext = Pick<
  SessionContext,
  'settings' | 'changed' | 'warn' | 'cliType' | 'now' | 'meter'
>;

/** How many requests that are over are remembered. */
const MAX_OVER = 100;

interface Pending {
  /** ISO 8601 UTC. */
  askedAt: string;
  answered: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A session's permission requests: asked once, answerable by any client, the first answer wins. */
export class Approvals {
  readonly #context: ApprovalsContext;
  readonly #agent: Pick<SessionAgent, 'answerApproval'>;
  readonly #pending = new Map<string, Pending>();
  /** The newest requests that are over: their answers are refused with more than "unknown". */
  readonly #over = new Set<string>();

  constructor(context: ApprovalsContext, agent: Pick<SessionAgent, 'answerApproval'>) {
    this.#context = context;
    this.#agent = agent;
  }

  get waiting(): boolean {
    return this.waitingSince !== undefined;
  }

  /** How many requests wait for an answer. */
  get count(): number {
    return [...this.#pending.values()].filter(({ answered }) => !answered).length;
  }

  /** When the request that has waited longest was made (ISO 8601 UTC). */
  get waitingSince(): string | undefined {
    return [...this.#pending.values()].find((pending) => !pending.answered)?.askedAt;
  }

  /** Reads a draft on its way to the log; gives a request its deadline. */
  pass(draft: EventDraft): EventDraft {
    const { payload } = draft;
    if (payload.type === 'item_start' && payload.itemType === 'approval') {
      return this.#asked(draft, payload);
    }
    if (payload.type === 'item_done' && payload.finalItem.type === 'approval') {
      this.#close(payload.finalItem.approvalId);
    }
    if (payload.type === 'response_done' || payload.type === 'response_error') this.closeAll();
    return draft;
  }

  /** Throws `APPROVAL_NOT_FOUND`, `APPROVAL_ALREADY_ANSWERED`, or as the agent does. */
  async answer(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    const pending = this.#pending.get(approvalId);
    if (!pending && !this.#over.has(approvalId)) {
      throw new RuntimeError(
        'APPROVAL_NOT_FOUND',
        `There is no permission request ${approvalId} in this session.`,
      );
    }
    if (!pending || pending.answered) {
      throw new RuntimeError(
        'APPROVAL_ALREADY_ANSWERED',
        'This permission request is over: it was answered or its turn has ended.',
      );
    }
    pending.answered = true;
    try {
      await this.#agent.answerApproval(approvalId, answer);
    } catch (error) {
      pending.answered = false;
      throw error;
    } finally {
      this.#context.changed();
    }
  }

  closeAll(): void {
    for (const approvalId of this.#pending.keys()) this.#close(approvalId);
  }

  #asked(draft: EventDraft, payload: EventDraft['payload'] & { type: 'item_start' }): EventDraft {
    const { deadlineMs } = this.#context.settings.approvals;
    const approvalId = payload.approvalId ?? payload.itemId;
    const options = payload.options ?? [];
    this.#pending.set(approvalId, {
      askedAt: draft.timestamp,
      answered: false,
      timer: deadlineMs > 0 ? this.#answerLater(approvalId, options) : undefined,
    });
    this.#context.changed();
    if (deadlineMs === 0 || payload.deadline !== undefined) return draft;
    const deadline = new Date(Date.parse(draft.timestamp) + deadlineMs).toISOString();
    return { ...draft, payload: { ...payload, deadline } };
  }

  #answerLater(approvalId: string, options: readonly ApprovalOption[]): NodeJS.Timeout {
    const { deadlineMs, fallback } = this.#context.settings.approvals;
    const choice = options.find((option) => option.kind === `${fallback}_once`) ?? options.at(-1);
    return setTimeout(() => {
      if (!choice) return;
      const { optionId } = choice;
      this.answer(approvalId, { optionId }).catch((error: unknown) => {
        this.#context.warn(error, 'a permission request could not be answered');
      });
    }, deadlineMs);
  }

  #close(approvalId: string): void {
    const pending = this.#pending.get(approvalId);
    if (!pending) return;
    clearTimeout(pending.timer);
    const { meter, cliType, now } = this.#context;
    meter?.approvalEnded(cliType, Math.max(0, now() - Date.parse(pending.askedAt)) / 1_000);
    this.#pending.delete(approvalId);
    this.#over.add(approvalId);
    const [oldest] = this.#over;
    if (oldest !== undefined && this.#over.size > MAX_OVER) this.#over.delete(oldest);
    this.#context.changed();
  }
}
