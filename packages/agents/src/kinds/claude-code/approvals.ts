/** Permission requests of Claude Code, answered by people. */
import { setImmediate as untilRead } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { CanUseTool, OnElicitation, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import type { ApprovalAnswer, ApprovalOption, ApprovalOutcome } from '@liminal/protocol';
import { toJson } from '../../base/few-values.ts';
import { Elicitations, mcpServerAsks } from '../../base/elicitations.ts';
import {
  type ApprovalEvents,
  type ApprovalQuestion,
  PendingApprovals,
} from '../../base/pending-approvals.ts';
import { lastingPermissions } from './lasting-permissions.ts';
import type { NotesQueued } from './notes-queued.ts';
import type { ProjectInUse } from './project-in-use.ts';
import {
  answerQuestions,
  notAnswered,
  questionForm,
  readQuestions,
  type Question,
} from './questions.ts';
import { oneLine } from '../../base/titles.ts';
import { describeTool } from './translate/describe-tool.ts';

/** An option, and the result that Claude Code gets if a person chooses the option. */
interface PermissionChoice extends ApprovalOption {
  result: PermissionResult;
}

type ToolUseContext = Parameters<CanUseTool>[2];

const deniedByUser: PermissionResult = { behavior: 'deny', message: 'The user refused this.' };
const rejectOption = { optionId: 'reject_once', kind: 'reject_once', takesNote: true } as const;
const withdrawn: PermissionResult = { behavior: 'deny', message: 'The user stopped the turn.' };

interface ApprovalOutput extends ApprovalEvents {
  /** Whether people can be asked, which is possible only during a turn. */
  canAsk: () => boolean;
  /** Whether auto mode is available, in which a second model decides about permissions. */
  offersAutoMode: () => boolean;
  /** The title of the task of the subagent with this id. */
  titleOfSubagent: (agentId: string) => string | undefined;
}

/** The open permission requests and questions of one process. */
export class ClaudeApprovals {
  readonly #output: ApprovalOutput;
  readonly #pending: PendingApprovals;
  readonly #elicitations: Elicitations;
  readonly #cwd: string;
  readonly #project: Pick<ProjectInUse, 'allowed' | 'proposals'>;
  readonly #notes: Pick<NotesQueued, 'allQueued'>;

  constructor(
    output: ApprovalOutput,
    cwd: string,
    project: Pick<ProjectInUse, 'allowed' | 'proposals'>,
    notes: Pick<NotesQueued, 'allQueued'>,
  ) {
    this.#output = output;
    this.#project = project;
    this.#notes = notes;
    this.#pending = new PendingApprovals(output);
    this.#elicitations = new Elicitations((question, signal) =>
      this.#pending.ask(question, signal),
    );
    this.#cwd = cwd;
  }

  /** Called by the SDK. Waits for people without a time limit, unless the turn is stopped. */
  readonly canUseTool: CanUseTool = async (toolName, input, context) => {
    // The SDK delivers a permission request before messages that Claude Code sent earlier. Read the earlier messages
    // first, because the call must be shown before its request.
    await untilRead();
    const questions = toolName === 'AskUserQuestion' ? readQuestions(input) : [];
    if (questions.length > 0) return this.#askQuestions(questions, input, context);
    const suggestions = this.#project.proposals(context.suggestions ?? []);
    const isPlan = toolName === 'ExitPlanMode';
    const choices = isPlan
      ? planChoices(input, this.#output.offersAutoMode())
      : permissionChoices({ ...context, suggestions }, this.#cwd);
    const { title, ...face } = describeTool(toolName, input, this.#cwd);
    // Describe the call anew, because a hook may have changed the input since the call was shown. If Claude Code's
    // request lacks the plan, people see the plan of the call's item.
    const isPlanless = isPlan && input['plan'] === undefined;
    const words = { name: toolName, arguments: toJson(input), title, ...face };
    const question = {
      title,
      ...this.#askedBy(context),
      ...reasonsFor(context, input),
      ...(!isPlanless && { asked: words }),
      ...(isPlan && { editable: ['plan'] }),
    };
    const outcome = await this.#ask(question, choices, context);
    if (outcome.outcome === 'cancelled') return withdrawn;
    const { result } = choices.find(({ optionId }) => optionId === outcome.optionId) ?? {};
    if (result?.behavior !== 'allow') return refusedWith(outcome.note);
    this.#project.allowed(result.updatedPermissions ?? []);
    if (outcome.note !== undefined) await this.#notes.allQueued();
    const { plan } = outcome.content ?? {};
    return plan === undefined ? result : { ...result, updatedInput: { ...input, plan } };
  };

  /**
   * Called by the SDK when an MCP server asks people a question. Without a running turn the question is cancelled,
   * because nobody would see the question.
   */
  readonly onElicitation: OnElicitation = async (request, { signal }) => {
    await untilRead();
    if (!this.#output.canAsk()) return { action: 'cancel' };
    // Older servers send no mode; they can ask only with forms.
    const asked = { ...request, mode: request.mode ?? 'form' };
    const { serverName, title, description } = request;
    const about = [title, description].filter((text) => text !== undefined && text !== '');
    const answer = await this.#elicitations.elicit(asked, signal, {
      askedBy: mcpServerAsks(serverName),
      ...(about.length > 0 && { description: about.join('\n\n') }),
    });
    return answer ?? { action: 'cancel' };
  };

  /** Closes the question about a link, with the answer “accepted”: the user has finished on the linked page. */
  completeLink(elicitationId: string): void {
    this.#elicitations.completeLink(elicitationId);
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    this.#pending.answer(approvalId, answer);
  }

  cancelAll(reason: string): void {
    this.#pending.cancelAll(reason);
  }

  async #askQuestions(
    questions: readonly Question[],
    input: Record<string, unknown>,
    context: ToolUseContext,
  ): Promise<PermissionResult> {
    const { toolUseID: callId, signal } = context;
    const question = { ...questionForm(questions), callId, ...this.#askedBy(context) };
    const outcome = await this.#pending.ask(question, signal);
    if (outcome.outcome === 'cancelled') return withdrawn;
    const { content, note } = outcome;
    if (content === undefined) return notAnswered(note);
    return { behavior: 'allow', updatedInput: answerQuestions(input, questions, content) };
  }

  #askedBy({ agentID: agentId }: ToolUseContext): Pick<ApprovalQuestion, 'askedBy'> {
    if (agentId === undefined) return {};
    const title = this.#output.titleOfSubagent(agentId);
    return { askedBy: title === undefined ? 'A subagent' : `Subagent “${oneLine(title)}”` };
  }

  #ask(
    question: Omit<ApprovalQuestion, 'options' | 'callId'>,
    choices: ApprovalOption[],
    { toolUseID: callId, signal, defaultToNo }: ToolUseContext,
  ): Promise<ApprovalOutcome> {
    const options = choices.map(({ optionId, name, kind, takesNote }) => ({
      optionId,
      name,
      kind,
      ...(takesNote === true && { takesNote }),
      ...(defaultToNo === true && kind.startsWith('allow') && { isUnclear: true }),
    }));
    return this.#pending.ask({ ...question, callId, options }, signal);
  }
}

/**
 * Returns Claude Code's reasons for asking and the MCP server that owns the tool, unless the call already shows them.
 */
function reasonsFor(
  context: ToolUseContext,
  input: Record<string, unknown>,
): Pick<ApprovalQuestion, 'description'> {
  const { blockedPath, defaultToNo, description, matchedAskRule: rule, mcpServer } = context;
  const reason = stripVTControlCharacters(context.decisionReason ?? '').trim();
  const namesPath = blockedPath === undefined || reason.includes(blockedPath);
  const known = new Set<unknown>([reason, ...Object.values(input)]);
  const content = rule?.ruleContent === undefined ? '' : `(${rule.ruleContent})`;
  const reasons = [
    reason,
    namesPath ? '' : `The path is ${blockedPath}.`,
    rule && `Your settings have a rule that asks for this: ${rule.toolName}${content}.`,
    mcpServer && `The tool belongs to the ${mcpServerAsks(mcpServer.name, mcpServer.source)}.`,
    known.has(description) ? '' : description,
    defaultToNo === true && 'Claude Code wants a deliberate answer: Enter does not allow this.',
  ].filter((text) => typeof text === 'string' && text !== '');
  return reasons.length === 0 ? {} : { description: reasons.join('\n\n') };
}

/**
 * The answer has no `updatedInput`, so that Claude Code uses its own input: the input that Liminal has may be shortened
 * (`ProgramOutput`).
 */
const allowed = { behavior: 'allow' } satisfies PermissionResult;

/** Returns the result that the model reads in place of the tool's output. */
const refusedWith = (note?: string): PermissionResult =>
  note === undefined
    ? deniedByUser
    : { behavior: 'deny', message: `The user refused this, and says: ${note}` };

function permissionChoices(
  { suggestions = [], suppressAlwaysAllowRule }: ToolUseContext,
  cwd: string,
): PermissionChoice[] {
  const lasting = suppressAlwaysAllowRule === true ? [] : lastingPermissions(suggestions, cwd);
  const always = lasting.map(({ name, updates: updatedPermissions }, index): PermissionChoice => ({
    optionId: index === 0 ? 'allow_always' : `allow_always_${index + 1}`,
    kind: 'allow_always',
    name,
    result: { ...allowed, updatedPermissions },
  }));
  return [
    { optionId: 'allow_once', kind: 'allow_once', name: 'Allow', takesNote: true, result: allowed },
    ...always,
    { ...rejectOption, name: 'Reject', result: deniedByUser },
  ];
}

/**
 * Returns the answers that the terminal offers to a plan; a person may add a note to each answer. Claude Code reports
 * the plan as approved only if the answer contains the plan.
 */
function planChoices(input: Record<string, unknown>, hasAutoMode: boolean): PermissionChoice[] {
  const approved = { behavior: 'allow', updatedInput: input } satisfies PermissionResult;
  const start = (
    optionId: string,
    name: string,
    mode: 'acceptEdits' | 'auto',
  ): PermissionChoice => ({
    optionId,
    kind: 'allow_always',
    name,
    takesNote: true,
    result: {
      ...approved,
      updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }],
    },
  });
  return [
    {
      optionId: 'allow_once',
      kind: 'allow_once',
      name: 'Approve, ask before edits',
      takesNote: true,
      result: approved,
    },
    start('allow_always', 'Approve, accept edits', 'acceptEdits'),
    ...(hasAutoMode ? [start('allow_auto', 'Approve, in auto mode', 'auto')] : []),
    { ...rejectOption, name: 'Keep planning', result: deniedByUser },
  ];
}
