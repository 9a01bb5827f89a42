import type { ApprovalAnswer } from '@liminal/protocol';
import { Elicitations, type ElicitationAnswer } from '../../base/elicitations.ts';
import type { ApprovalEvents, ApprovalQuestion } from '../../base/pending-approvals.ts';
import { PendingApprovals } from '../../base/pending-approvals.ts';
import { ProjectFiles } from './project-files.ts';
import { elicit, requestPermission, type PermissionAnswer } from './questions.ts';
import { Terminals, type TerminalsOptions } from './terminals.ts';

export interface SessionClientOptions extends TerminalsOptions {
  desk: ApprovalEvents;
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
  readonly #elicitations: Elicitations;

  constructor(options: SessionClientOptions) {
    this.#options = options;
    this.files = new ProjectFiles(options.projectDir);
    this.terminals = new Terminals(options);
    this.#approvals = new PendingApprovals(options.desk);
    this.#elicitations = new Elicitations(this.#ask);
  }

  /** Whether people are being asked something. */
  get isAsking(): boolean {
    return this.#approvals.isAsking;
  }

  /** `params` of the request, as they came. Throws ClientError. */
  async requestPermission(params: unknown, signal: AbortSignal): Promise<PermissionAnswer> {
    if (!this.#options.canAsk()) return { outcome: { outcome: 'cancelled' } };
    return requestPermission(params, this.#ask, this.#options.showCall, signal);
  }

  /** `params` of the request, as they came. Throws ClientError. */
  async elicit(params: unknown, signal: AbortSignal): Promise<ElicitationAnswer> {
    if (!this.#options.canAsk()) return { action: 'cancel' };
    return elicit(params, this.#elicitations, signal);
  }

  /** Somebody has opened the link and done what it was for: nobody needs to say so. */
  completeLink(elicitationId: unknown): void {
    this.#elicitations.completeLink(elicitationId);
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    this.#approvals.answer(approvalId, answer);
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
}
