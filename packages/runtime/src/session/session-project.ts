import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import type { ProjectSettings, ProjectTrust } from '@liminal/agents';
import {
  type ApprovalAnswer,
  type ApprovalOption,
  type ApprovalOutcome,
  type EventDraft,
  type EventPayload,
  type OutputItem,
  projectSettingsCall,
  serverReasons,
} from '@liminal/protocol';
import { errors } from '../errors.ts';
import type { SessionAgent } from './session-agent.ts';
import type { SessionContext } from './session-context.ts';
import type { Turn } from '../turn/index.ts';

type ProjectContext = Pick<
  SessionContext,
  'cliType' | 'driver' | 'store' | 'roots' | 'record' | 'settings' | 'iso' | 'supervisor'
>;

/** A lasting decision about the settings of a folder, stored with the folder's grants. */
type Decision = 'use' | 'leave';

const choices: ApprovalOption[] = [
  { optionId: 'use', kind: 'allow_always', name: 'Use these settings' },
  { optionId: 'without', kind: 'reject_once', name: 'Start without them' },
  {
    optionId: 'never',
    kind: 'reject_always',
    name: 'Start without them, and do not ask again about these files',
  },
];

/** An open question. */
interface OpenQuestion {
  approvalId: string;
  folder: string;
  settings: ProjectSettings;
  options: readonly ApprovalOption[];
  end: (outcome: ApprovalOutcome) => void;
}

interface SessionProjectOptions {
  /** The running turn. */
  turn: () => Turn | undefined;
  /** Receives the events of the question's turn. */
  onDraft: (draft: EventDraft) => void;
  /** Called when the question's turn has ended without an answer. */
  onOver: () => void;
}

/**
 * Decides whether a session's agent uses the settings in its project folder: hooks, MCP servers, permissions. Asks
 * users, in a server turn, before the first message that would reach the agent. The users' answer applies to the
 * folder's real path, and only as long as the settings files do not change.
 */
export class SessionProject implements ProjectTrust {
  readonly #context: ProjectContext;
  readonly #options: SessionProjectOptions;
  /** Whether the running agent uses the project's settings, and the hash of the settings with which it started. */
  #inUse: { isReading: boolean; hash: string | undefined } | undefined;
  /** The hash of settings that this session does not use, although no lasting decision was made. */
  #leftOut: string | undefined;
  #question: OpenQuestion | undefined;

  constructor(context: ProjectContext, options: SessionProjectOptions) {
    this.#context = context;
    this.#options = options;
  }

  async uses(settings: ProjectSettings): Promise<boolean> {
    return (await this.#decision(await this.#folder(), settings)) === 'use';
  }

  started(settings: ProjectSettings | undefined, isReading: boolean): void {
    this.#inUse = { isReading, hash: isReading ? settings?.hash : undefined };
  }

  async changed(settings: ProjectSettings): Promise<void> {
    await this.#decide(await this.#folder(), settings, 'use');
    this.started(settings, true);
  }

  /**
   * Returns whether a message may be sent to the agent. Resolves with false if users must be asked first; the turn that
   * asks them has then begun. Ends an agent that runs with other settings than the decided settings.
   */
  async isDecided(agent: Pick<SessionAgent, 'isAlive' | 'stop' | 'started'>): Promise<boolean> {
    const { driver } = this.#context;
    if (!driver.readProjectSettings) return true;
    const folder = await this.#folder();
    const settings = await driver.readProjectSettings(folder);
    const decision = settings && (await this.#decision(folder, settings));
    if (settings && decision === undefined && settings.hash !== this.#leftOut) {
      this.#ask(folder, settings, (await driver.describe()).name);
      return false;
    }
    // An agent that is starting now may have read the settings before the decision.
    await agent.started();
    if (agent.isAlive && !this.#runsWith(settings, decision)) await agent.stop();
    return true;
  }

  /** Returns whether the answer was for a question about settings. Throws `INVALID_OPTION`. */
  async answer(approvalId: string, { optionId, note }: ApprovalAnswer): Promise<boolean> {
    const question = this.#question;
    if (question?.approvalId !== approvalId) return false;
    const chosen = question.options.find((option) => option.optionId === optionId);
    if (!chosen || (note?.trim() ?? '') !== '') {
      const offered = question.options.map((option) => option.optionId).join(', ');
      throw errors.INVALID_OPTION.answer(offered);
    }
    const { folder, settings, end } = question;
    if (optionId === 'use') await this.#decide(folder, settings, 'use');
    else if (optionId === 'never') await this.#decide(folder, settings, 'leave');
    else this.#leftOut = settings.hash;
    end({ outcome: 'selected', optionId });
    return true;
  }

  /** Withdraws an open question without a decision: users are asked again before the next message. */
  cancel(): boolean {
    const question = this.#question;
    if (!question) return false;
    question.end({ outcome: 'cancelled' });
    return true;
  }

  #runsWith(settings: ProjectSettings | undefined, decision: Decision | undefined): boolean {
    const { isReading, hash } = this.#inUse ?? { isReading: false };
    if (settings === undefined) return hash === undefined;
    return decision === 'use' ? hash === settings.hash : !isReading;
  }

  /** Throws `PROJECT_DIR_…`. */
  async #folder(): Promise<string> {
    const { roots, record } = this.#context;
    return roots.admit(record.value.projectDir);
  }

  /**
   * The decision for these settings; settings that cannot be shown completely are never used, even if they were
   * accepted earlier.
   */
  async #decision(
    folder: string,
    { hash, problem }: ProjectSettings,
  ): Promise<Decision | undefined> {
    const isShown = problem === undefined;
    const grants = await this.#context.store.listGrants(folder);
    const rules = new Set(grants.map(({ rule }) => rule));
    if (rules.has(this.#rule('leave', hash))) return 'leave';
    return isShown && rules.has(this.#rule('use', hash)) ? 'use' : undefined;
  }

  /** Throws the store's errors. */
  async #decide(folder: string, settings: ProjectSettings, decision: Decision): Promise<void> {
    const { cliType, store, iso } = this.#context;
    const names = namesOf(settings, folder).join(', ');
    const what = decision === 'use' ? 'uses' : 'leaves out';
    const title = `${cliType} ${what} the settings in this folder: ${names}`;
    const rule = this.#rule(decision, settings.hash);
    await store.addGrant(folder, { rule, title, grantedAt: iso() });
    const other = decision === 'use' ? 'leave' : 'use';
    await store.removeGrant(folder, this.#rule(other, settings.hash));
  }

  #rule(decision: Decision, hash: string): string {
    return `project-settings:${decision}:${this.#context.cliType}:${hash}`;
  }

  #ask(folder: string, settings: ProjectSettings, agent: string): void {
    const { cliType, iso, supervisor } = this.#context;
    const turnId = randomUUID();
    const approvalId = randomUUID();
    const emit = (payload: EventPayload): void =>
      this.#options.onDraft({ turnId, timestamp: iso(), payload });
    emit({ type: 'response_start', modelId: '', providerId: cliType, trigger: 'agent' });
    const turn = this.#options.turn();
    if (turn?.turnId !== turnId) return;
    const offered = settings.problem === undefined ? choices : choices.slice(1);
    const items = questionItems(turnId, approvalId, offered, { agent, folder, settings });
    const timer = this.#answerLater(approvalId);
    const end = (outcome: ApprovalOutcome): void => {
      clearTimeout(timer);
      if (this.#question?.approvalId !== approvalId) return;
      this.#question = undefined;
      if (turn.isOver) return this.#options.onOver();
      const isUsed = outcome.outcome === 'selected' && outcome.optionId === 'use';
      for (const payload of items.ends(outcome, isUsed)) emit(payload);
    };
    this.#question = { approvalId, folder, settings, options: offered, end };
    for (const payload of items.begins()) emit(payload);
    supervisor.start(async () => {
      await turn.ended;
      end({ outcome: 'cancelled', reason: 'turn_ended' });
    });
  }

  /** Answers at the deadline, always without the settings, even if the policy allows permission requests. */
  #answerLater(approvalId: string): NodeJS.Timeout | undefined {
    const { deadlineMs } = this.#context.settings.approvals;
    if (deadlineMs === 0) return undefined;
    const answer = async (): Promise<void> => {
      await this.answer(approvalId, { optionId: 'without' });
    };
    return setTimeout(() => this.#context.supervisor.start(answer), deadlineMs);
  }
}

interface QuestionSubject {
  /** The agent's name. */
  agent: string;
  folder: string;
  settings: ProjectSettings;
}

/**
 * Returns the question, as the items of its turn: a call whose arguments are the complete settings files, and a
 * permission request for this call.
 */
function questionItems(
  turnId: string,
  approvalId: string,
  offered: readonly ApprovalOption[],
  { agent, folder, settings }: QuestionSubject,
) {
  const callId = `${turnId}:settings`;
  const names = namesOf(settings, folder);
  const files = Object.fromEntries(names.map((name, at) => [name, settings.files[at]?.text ?? '']));
  const title = 'Use the settings in this folder?';
  const description = [
    `${agent} would run programs, or allow something without asking, because of these files.`,
    'Use them only if you trust the people who wrote them.',
    'Programs that the files name are not shown, and can change without another question.',
    ...(settings.problem === undefined ? [] : [`They cannot be used. ${settings.problem}`]),
  ].join(' ');
  const call = {
    type: 'function_call',
    id: callId,
    callId,
    origin: 'agent',
    name: projectSettingsCall,
    title: 'Use the settings in this folder',
    kind: 'other',
    arguments: JSON.stringify(files),
  } as const satisfies OutputItem;
  const request = { approvalId, title, description, callId, options: [...offered] };
  return {
    begins: (): EventPayload[] => [
      {
        type: 'item_start',
        itemId: callId,
        itemType: 'function_call',
        callId,
        name: call.name,
        title: call.title,
        kind: call.kind,
        arguments: call.arguments,
      },
      { type: 'item_done', itemId: callId, finalItem: call },
      {
        type: 'item_start',
        itemId: approvalId,
        itemType: 'approval',
        ...request,
      },
    ],
    ends: (outcome: ApprovalOutcome, isUsed: boolean): EventPayload[] => {
      const outputId = `${callId}:answer`;
      const output = isUsed ? 'The settings are used.' : 'The agent starts without them.';
      return [
        {
          type: 'item_done',
          itemId: approvalId,
          finalItem: {
            type: 'approval',
            id: approvalId,
            ...request,
            outcome,
          },
        },
        { type: 'item_start', itemId: outputId, itemType: 'function_call_output', callId },
        {
          type: 'item_done',
          itemId: outputId,
          finalItem: {
            type: 'function_call_output',
            id: outputId,
            callId,
            origin: 'system',
            output,
            success: true,
          },
        },
        { type: 'response_done', status: 'completed', finishReason: serverReasons.projectSettings },
      ];
    },
  };
}

/** Paths of files below the folder are relative; other paths are absolute. */
function namesOf({ files }: ProjectSettings, folder: string): string[] {
  return files.map(({ path }) => {
    const name = relative(folder, path);
    return name === '' || name.startsWith('..') ? path : name;
  });
}
