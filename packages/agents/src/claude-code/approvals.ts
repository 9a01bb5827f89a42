/** Permission requests: Claude Code asks, people answer. */
import { randomUUID } from 'node:crypto';
import { setImmediate as untilRead } from 'node:timers/promises';
import type {
  CanUseTool,
  PermissionResult,
  PermissionUpdate,
} from '@anthropic-ai/claude-agent-sdk';
import type { ApprovalOption, ApprovalOutcome } from '@liminal/protocol';
import { ProviderError } from '../errors.ts';
import { answerQuestions, readQuestions, type Question } from './questions.ts';
import { toolFace } from './translate/tool-faces.ts';

export interface ApprovalRequest {
  approvalId: string;
  title: string;
  callId: string;
  options: ApprovalOption[];
}

/** Where approvals are shown. */
export interface ApprovalDesk {
  open(request: ApprovalRequest): void;
  close(approvalId: string, outcome: ApprovalOutcome): void;
}

/** A choice and what Claude Code is told when it is taken. */
interface Choice extends ApprovalOption {
  result: PermissionResult;
}

interface Pending {
  choices: readonly ApprovalOption[];
  settle: (outcome: ApprovalOutcome) => void;
}

type Context = Parameters<CanUseTool>[2];

const refused: PermissionResult = { behavior: 'deny', message: 'The user refused this.' };
const withdrawn: PermissionResult = { behavior: 'deny', message: 'The user stopped the turn.' };

/** The permission requests of one process that wait for an answer. */
export class Approvals {
  readonly #desk: ApprovalDesk;
  readonly #cwd: string;
  readonly #pending = new Map<string, Pending>();

  constructor(desk: ApprovalDesk, cwd: string) {
    this.#desk = desk;
    this.#cwd = cwd;
  }

  /** What the SDK calls. It waits as long as it takes, unless the turn is stopped. */
  readonly canUseTool: CanUseTool = async (toolName, input, context) => {
    // The request overtakes messages that are already there: the call it is about is shown first.
    await untilRead();
    const questions = toolName === 'AskUserQuestion' ? readQuestions(input) : [];
    if (questions.length > 0) return this.#askQuestions(questions, input, context);
    const choices = permissionChoices(toolName, input, context);
    const title = toolFace(toolName, input, this.#cwd).title;
    const outcome = await this.#ask(title, choices, context);
    if (outcome.outcome === 'cancelled') return withdrawn;
    return choices.find(({ optionId }) => optionId === outcome.optionId)?.result ?? refused;
  };

  /** Throws ProviderError `APPROVAL_NOT_FOUND` or `INVALID_OPTION`. */
  answer(approvalId: string, optionId: string): void {
    const pending = this.#pending.get(approvalId);
    if (pending === undefined) {
      const message = 'This permission request is over: it was answered, or its turn has ended.';
      throw new ProviderError('APPROVAL_NOT_FOUND', message);
    }
    const offered = pending.choices.map((choice) => choice.optionId);
    if (!offered.includes(optionId)) {
      const message = `“${optionId}” is no answer to this request. There are: ${offered.join(', ')}.`;
      throw new ProviderError('INVALID_OPTION', message);
    }
    pending.settle({ outcome: 'selected', optionId });
  }

  /** Nobody waits for the answers any more. */
  cancelAll(reason: string): void {
    for (const { settle } of this.#pending.values()) settle({ outcome: 'cancelled', reason });
  }

  async #askQuestions(
    questions: readonly Question[],
    input: Record<string, unknown>,
    context: Context,
  ): Promise<PermissionResult> {
    const answers: string[] = [];
    for (const question of questions) {
      const outcome = await this.#ask(question.question, question.choices, context);
      const chosen =
        outcome.outcome === 'selected'
          ? question.choices.find(({ optionId }) => optionId === outcome.optionId)
          : undefined;
      if (chosen === undefined) return withdrawn;
      if (chosen.kind === 'reject_once') return refused;
      answers.push(chosen.name);
    }
    return { behavior: 'allow', updatedInput: answerQuestions(input, questions, answers) };
  }

  async #ask(
    title: string,
    choices: readonly ApprovalOption[],
    { toolUseID: callId, signal }: Context,
  ): Promise<ApprovalOutcome> {
    const approvalId = randomUUID();
    const { promise, resolve: settle } = Promise.withResolvers<ApprovalOutcome>();
    const onAbort = (): void => settle({ outcome: 'cancelled', reason: 'turn_ended' });
    if (signal.aborted) return { outcome: 'cancelled' };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#pending.set(approvalId, { choices, settle });
    const options = choices.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
    this.#desk.open({ approvalId, title, callId, options });
    const outcome = await promise;
    signal.removeEventListener('abort', onAbort);
    this.#pending.delete(approvalId);
    this.#desk.close(approvalId, outcome);
    return outcome;
  }
}

function permissionChoices(
  toolName: string,
  input: Record<string, unknown>,
  { suggestions = [], suppressAlwaysAllowRule }: Context,
): Choice[] {
  if (toolName === 'ExitPlanMode') return planChoices(input);
  const allowed: PermissionResult = { behavior: 'allow', updatedInput: input };
  const always: Choice[] =
    suggestions.length === 0 || suppressAlwaysAllowRule === true
      ? []
      : [
          {
            optionId: 'allow_always',
            kind: 'allow_always',
            name: alwaysName(suggestions),
            result: { ...allowed, updatedPermissions: suggestions },
          },
        ];
  return [
    { optionId: 'allow_once', kind: 'allow_once', name: 'Allow', result: allowed },
    ...always,
    { optionId: 'reject_once', kind: 'reject_once', name: 'Reject', result: refused },
  ];
}

function planChoices(input: Record<string, unknown>): Choice[] {
  const approved: PermissionResult = { behavior: 'allow', updatedInput: input };
  const acceptEdits: PermissionUpdate = {
    type: 'setMode',
    mode: 'acceptEdits',
    destination: 'session',
  };
  return [
    {
      optionId: 'allow_once',
      kind: 'allow_once',
      name: 'Start, and ask before each edit',
      result: approved,
    },
    {
      optionId: 'allow_always',
      kind: 'allow_always',
      name: 'Start, and accept edits',
      result: { ...approved, updatedPermissions: [acceptEdits] },
    },
    { optionId: 'reject_once', kind: 'reject_once', name: 'Keep planning', result: refused },
  ];
}

/** Says what will not be asked again. */
function alwaysName(suggestions: readonly PermissionUpdate[]): string {
  const names = suggestions.flatMap((update) => {
    switch (update.type) {
      case 'addRules':
      case 'replaceRules':
        return update.rules.map(({ toolName, ruleContent }) => ruleContent ?? toolName);
      case 'setMode':
        return update.mode === 'acceptEdits' ? ['all edits'] : [`mode ${update.mode}`];
      case 'addDirectories':
        return update.directories;
      case 'removeRules':
      case 'removeDirectories':
        return [];
    }
  });
  return names.length === 0 ? 'Always allow' : `Always allow ${names.join(', ')}`;
}
