import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  methods,
  type PermissionOption,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { type ApprovalAnswer, defaultOption } from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { formOf } from './fold/form.ts';
import type { ApprovalItem } from './fold/tool-calls.ts';

export interface QuestionsOptions {
  client: AgentContext;
  capabilities: ClientCapabilities;
  runtime: Pick<Runtime, 'answerApproval'>;
  sessionId: string;
  /** Reports that an answer does not count, because another client answered first or the answer is invalid. */
  onProblem: (error: unknown) => void;
}

/**
 * Asks an ACP client the session's questions. All other clients show these questions too: the first answer counts, from
 * any client. If the client disconnects, or cannot show questions, the other clients still show the question.
 */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Map<string, AbortController>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  ask(approval: ApprovalItem, toolCall: ToolCallUpdate): void {
    const { approvalId } = approval;
    if (this.#open.has(approvalId)) return;
    const asking = new AbortController();
    this.#open.set(approvalId, asking);
    this.#ask(approval, toolCall, asking.signal)
      .catch((error: unknown) => {
        if (!asking.signal.aborted) this.#options.onProblem(error);
      })
      .finally(() => this.#open.delete(approvalId));
  }

  /** Closes the client's dialog, because the question was answered or withdrawn. */
  closeDialog(approvalId: string): void {
    this.#open.get(approvalId)?.abort();
  }

  close(): void {
    for (const asking of this.#open.values()) asking.abort();
  }

  async #ask(approval: ApprovalItem, toolCall: ToolCallUpdate, signal: AbortSignal): Promise<void> {
    const { runtime, sessionId } = this.#options;
    const takesForms = this.#options.capabilities.elicitation?.form != null;
    // A client that shows a form does not show the options. Therefore the form is sent only if the default choice may
    // be the allowing option.
    const isSent = takesForms && defaultOption(approval.options, 'allow') !== undefined;
    const answer =
      approval.form && isSent
        ? await this.#fillIn(approval, toolCall.toolCallId, signal)
        : await this.#choose(approval, toolCall, signal);
    if (answer === undefined || signal.aborted) return;
    await runtime.answerApproval(sessionId, approval.approvalId, answer);
  }

  /** Returns undefined if the client gave no answer, for example because the user stopped the turn. */
  async #choose(
    { options, form }: ApprovalItem,
    toolCall: ToolCallUpdate,
    cancellationSignal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined> {
    const { client, sessionId } = this.#options;
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      {
        sessionId,
        toolCall,
        // An ACP permission request cannot contain a form, so only the rejecting options of a form are offered. Another
        // client can fill in the form.
        options: options
          .filter(({ kind }) => form === undefined || kind.startsWith('reject'))
          .map(optionOf),
      },
      { cancellationSignal, stopWaitingOnCancel: true },
    );
    return outcome.outcome === 'selected' ? { optionId: outcome.optionId } : undefined;
  }

  async #fillIn(
    { title, askedBy, description, options, form = { properties: {} } }: ApprovalItem,
    toolCallId: string,
    cancellationSignal: AbortSignal,
  ): Promise<ApprovalAnswer | undefined> {
    const { client, sessionId } = this.#options;
    const request = {
      mode: 'form',
      sessionId,
      toolCallId,
      message: [askedBy && `${askedBy} asks:`, title, description]
        .filter((text) => text !== undefined)
        .join('\n\n'),
      requestedSchema: formOf(form),
    } as CreateElicitationRequest;
    const answer = await client.request(methods.client.elicitation.create, request, {
      cancellationSignal,
      stopWaitingOnCancel: true,
    });
    const isAccepted = answer.action === 'accept';
    const option = defaultOption(options, isAccepted ? 'allow' : 'reject');
    if (option === undefined) return undefined;
    const content = isAccepted && 'content' in answer ? answer.content : undefined;
    return { optionId: option.optionId, ...(content != null && { content }) } as ApprovalAnswer;
  }
}

const optionOf = ({ optionId, name, kind }: ApprovalItem['options'][number]): PermissionOption => ({
  optionId,
  name,
  kind,
});
