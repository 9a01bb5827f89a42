import type { ApprovalAnswer } from '@liminal/protocol';
import { z } from 'zod';
import type { ClientFiles } from '../../../contract/client-files.ts';
import type { HiddenFolders } from '../../../base/hidden-folders.ts';
import type { ExitStatus } from '../../../contract/client-terminals.ts';
import { Elicitations, type ElicitationAnswer } from '../../../base/elicitations.ts';
import { isoNow as now } from '../../../base/iso-clock.ts';
import type { ApprovalQuestion } from '../../../base/pending-approvals.ts';
import { PendingApprovals } from '../../../base/pending-approvals.ts';
import type { AcpTranslator } from '../translate/translator.ts';
import { pickFields } from '../translate/fields.ts';
import { ProjectFiles } from './project-files.ts';
import { elicit, requestPermission, type PermissionAnswer } from './questions.ts';
import { Terminals, type TerminalsOptions } from './terminals.ts';

export interface SessionClientOptions extends Omit<TerminalsOptions, 'events' | 'turn'> {
  additionalDirectories: readonly string[];
  /** The files that our clients have open. */
  files?: ClientFiles | undefined;
  hiddenFolders: HiddenFolders;
  /** Shows the questions and the terminals' output. */
  translator: AcpTranslator;
  /** Whether people can be asked now, and whether the agent still works on a prompt that was cancelled. */
  state: () => { canAsk: boolean; isCancelled: boolean };
  /** Called when people are asked a question. */
  onAsk: () => void;
}

/** Serves the agent's requests in one session: files, terminals, questions to people. */
export class SessionClient {
  readonly files: ProjectFiles;
  readonly terminals: Terminals;
  readonly #options: SessionClientOptions;
  readonly #approvals: PendingApprovals;
  readonly #elicitations: Elicitations;

  constructor(options: SessionClientOptions) {
    const { translator, onAsk, state } = options;
    this.#options = options;
    this.files = new ProjectFiles(options.projectDir, {
      clients: options.files,
      additionalDirectories: options.additionalDirectories,
      hiddenFolders: options.hiddenFolders,
    });
    const events = {
      terminalOutput: (id: string, text: string) => translator.terminalOutput(id, text, now()),
      terminalExit: (id: string, exit: ExitStatus) => translator.terminalExit(id, exit, now()),
    };
    const turn = () => ({ id: translator.turn?.turnId, isCancelled: state().isCancelled });
    this.terminals = new Terminals({ ...options, events, turn });
    this.#approvals = new PendingApprovals({
      open: (request) => {
        translator.openApproval(request, now());
        onAsk();
      },
      close: (id, outcome) => translator.closeApproval(id, outcome, now()),
    });
    this.#elicitations = new Elicitations(this.#ask);
  }

  /** Whether a question to people is open. */
  get isAsking(): boolean {
    return this.#approvals.isAsking;
  }

  /** Asks people for a permission. `params` are the unparsed parameters of the request. Throws ClientError. */
  async requestPermission(params: unknown, signal: AbortSignal): Promise<PermissionAnswer> {
    if (!this.#options.state().canAsk) return { outcome: { outcome: 'cancelled' } };
    const { sessionId } = pickFields(params, { sessionId: z.string() });
    const showCall = (call: unknown) => this.#options.translator.toolCall(call, now(), sessionId);
    return requestPermission(params, this.#ask, showCall, signal);
  }

  /** Asks people a question. `params` are the unparsed parameters of the request. Throws ClientError. */
  async elicit(params: unknown, signal: AbortSignal): Promise<ElicitationAnswer> {
    if (!this.#options.state().canAsk) return { action: 'cancel' };
    return elicit(params, this.#elicitations, signal);
  }

  /** Closes the question about a link that has served its purpose: the question needs no answer. */
  completeLink(elicitationId: unknown): void {
    this.#elicitations.completeLink(elicitationId);
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    this.#approvals.answer(approvalId, answer);
  }

  /** Cancels all open questions. */
  cancelQuestions(reason: string): void {
    this.#approvals.cancelAll(reason);
  }

  /** Ends all programs and the processes that they left behind. */
  async end(): Promise<void> {
    await this.terminals.end();
  }

  readonly #ask = (question: ApprovalQuestion, signal: AbortSignal) =>
    this.#approvals.ask(question, signal);
}
