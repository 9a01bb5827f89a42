import type { ApprovalAnswer, Form } from '@liminal/protocol';
import type {
  ApprovalDesk,
  ApprovalQuestion,
  ApprovalRequest,
} from '../../base/pending-approvals.ts';
import { PendingApprovals } from '../../base/pending-approvals.ts';
import { ProviderError } from '../../errors.ts';
import { formProblem } from './form-content.ts';
import { ProjectFiles } from './project-files.ts';
import {
  elicit,
  readLinkId,
  requestPermission,
  type ElicitationAnswer,
  type PermissionAnswer,
} from './questions.ts';
import { Terminals, type TerminalsOptions } from './terminals.ts';

export interface SessionClientOptions extends TerminalsOptions {
  desk: ApprovalDesk;
  /** Shows the tool call of a permission request, and gives its id. */
  showCall: (toolCall: unknown) => string | undefined;
  /** Whether a turn is running that people can be asked in. */
  canAsk: () => boolean;
}

/** What one session does for its agent: files, terminals, questions to people. */
export class SessionClient {
  readonly files: ProjectFiles;
  readonly terminals: Terminals;
  readonly #options: SessionClientOptions;
  readonly #approvals: PendingApprovals;
  readonly #asked = new Map<string, ApprovalRequest>();
  readonly #links = new Map<unknown, AbortController>();

  constructor(options: SessionClientOptions) {
    this.#options = options;
    this.files = new ProjectFiles(options.projectDir);
    this.terminals = new Terminals(options);
    const { desk } = options;
    this.#approvals = new PendingApprovals({
      open: (request) => {
        this.#asked.set(request.approvalId, request);
        desk.open(request);
      },
      close: (approvalId, outcome) => {
        this.#asked.delete(approvalId);
        desk.close(approvalId, outcome);
      },
    });
  }

  /** Whether people are being asked something. */
  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  /** `params` of the request, as they came. Throws ClientError. */
  async requestPermission(params: unknown, signal: AbortSignal): Promise<PermissionAnswer> {
    if (!this.#options.canAsk()) return { outcome: { outcome: 'cancelled' } };
    return requestPermission(params, this.#ask, this.#options.showCall, signal);
  }

  /** `params` of the request, as they came. Throws ClientError. */
  async elicit(params: unknown, signal: AbortSignal): Promise<ElicitationAnswer> {
    if (!this.#options.canAsk()) return { action: 'cancel' };
    const link = readLinkId(params);
    if (link === undefined) return elicit(params, this.#ask, signal);
    const done = new AbortController();
    this.#links.set(link, done);
    try {
      const answer = await elicit(params, this.#ask, AbortSignal.any([signal, done.signal]));
      return done.signal.aborted ? { action: 'accept' } : answer;
    } finally {
      this.#links.delete(link);
    }
  }

  /** Somebody has opened the link and done what it was for: nobody needs to say so. */
  completeLink(elicitationId: unknown): void {
    this.#links.get(elicitationId)?.abort();
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, { content = {}, ...answer }: ApprovalAnswer): void {
    const form = this.#formOf(approvalId, answer.optionId);
    const problem = form && formProblem(form, content);
    if (problem !== undefined) throw new ProviderError('INVALID_OPTION', problem);
    this.#approvals.answer(approvalId, form ? { ...answer, content } : answer);
  }

  /** Nobody waits for answers any more. */
  cancelQuestions(reason: string): void {
    this.#approvals.cancelAll(reason);
  }

  /** Ends all programs, and what they left behind. */
  async end(): Promise<void> {
    await this.terminals.end();
  }

  readonly #ask = (question: ApprovalQuestion, signal: AbortSignal) =>
    this.#approvals.ask(question, signal);

  /** What is to be filled in with this answer. */
  #formOf(approvalId: string, optionId: string): Form | undefined {
    const asked = this.#asked.get(approvalId);
    const chosen = asked?.options.find((option) => option.optionId === optionId);
    return chosen?.kind.startsWith('allow') === true ? asked?.form : undefined;
  }
}
