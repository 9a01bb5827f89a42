import { BoundedMap } from '@liminal/protocol';
import { z } from 'zod';
import type { ApprovalOutcome, ContentBlock, Usage, AgentCommand } from '@liminal/protocol';
import type { ApprovalRequest, AskedCallInfo } from '../../../base/pending-approvals.ts';
import type { Emit } from '../../../base/turn-writer.ts';
import type { SessionUpdate } from '../../../contract/provider.ts';
import { conversationHandler } from './conversation.ts';
import { updateType } from './fields.ts';
import { readFields } from './fields.ts';
import { UnplacedUpdates } from './unplaced-updates.ts';
import type { Trigger, TurnEnd } from '../../../base/turn-writer.ts';
import { isPlainChunk } from './plain-chunk.ts';
import { newestPlans } from './plan.ts';
import { Settings } from './settings.ts';
import { knownSubagents, subagentName } from './subagents.ts';
import { TerminalTexts, type TerminalExit } from './terminals.ts';
import { hasFailed } from './thread-status.ts';
import { askedFromRequest, callIdOf } from './tool-call.ts';
import { AcpTurn } from './turn.ts';
import { readUsageUpdate } from './usage.ts';

const commandsUpdate = { availableCommands: z.array(z.unknown()) };
const command = {
  name: z.string().min(1),
  description: z.string(),
  input: z.looseObject({ hint: z.string().nullish() }),
};

export interface AcpTranslatorOptions {
  /** The turns' `providerId`. */
  cliType: string;
  /** Makes the ids of turns that the agent begins by itself. */
  createTurnId: () => string;
  emit: Emit;
  update: (update: SessionUpdate) => void;
  /** Whether the updates are a replay, in which calls are announced after they have ended. */
  isReplay?: boolean;
}

const sessionInfo = { sessionUpdate: z.string(), title: z.string(), updatedAt: z.string() };

/** A permission request's description of its call, the call's id, and the subagent that asks. */
type PermissionRequestInfo = Partial<AskedCallInfo> & { callId?: string; askedBy?: string };

/** The updates of a subagent's session that are shown; the others are kept. */
const shownOfChildren = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'subagent_update',
]);

/**
 * How many calls of past turns are remembered, in order to recognise late updates. Late updates are about the newest
 * calls.
 */
const maxEndedCalls = 1_000;

/**
 * Translates an ACP agent's session updates into canonical events. An update may be any JSON: values that cannot be
 * translated are kept with the nearest item. Times are ISO 8601 UTC. A conversation update that arrives while no turn
 * runs begins a turn without a user's message. The next `begin`, `finish` or `end` ends that turn.
 */
export class AcpTranslator {
  readonly #options: AcpTranslatorOptions;
  readonly #settings = new Settings();
  readonly #terminals = new TerminalTexts();
  readonly #plans = newestPlans();
  readonly #subagents = knownSubagents();
  readonly #unplaced = new UnplacedUpdates();
  /** The ids of the newest calls of past turns. */
  readonly #endedCalls = new BoundedMap<string, true>(maxEndedCalls);
  #turn: AcpTurn | undefined;
  /** Usage that the agent reported while no turn ran; the usage is counted in the next turn. */
  #usage: Usage | undefined;

  constructor(options: AcpTranslatorOptions) {
    this.#options = options;
  }

  get turn(): { turnId: string; trigger: Trigger } | undefined {
    const turn = this.#turn;
    return turn === undefined ? undefined : { turnId: turn.turnId, trigger: turn.trigger };
  }

  /** Whether a turn is running in which the agent has shown nothing yet. */
  get isSilent(): boolean {
    return this.#turn?.isSilent === true;
  }

  /** Reads modes, config options and models from the answer to `session/new`, `load`, `resume` or `set_*`. */
  settings(raw: unknown): void {
    if (this.#settings.read(raw)) this.#reportSettings();
  }

  /** Begins a turn with the user's message; in a replay the agent sends the message itself. */
  begin(
    turnId: string,
    text: string | undefined,
    timestamp: string,
    blocks: readonly ContentBlock[] = [],
  ): void {
    this.end({ type: 'response_done', status: 'completed', finishReason: null }, timestamp);
    this.#begin(turnId, 'user', text, timestamp, blocks);
  }

  /** Reads `params.update` of a `session/update`, unparsed. */
  read(update: unknown, timestamp: string): void {
    if (isPlainChunk(update)) return this.#running(timestamp).plainChunk(update);
    const type = updateType(update);
    const handler = conversationHandler(type);
    if (handler !== undefined) {
      if (!this.#isLate(type, update)) handler(this.#running(timestamp), update);
    } else if (update != null && !this.#readSession(type, update, timestamp)) this.#keep(update);
  }

  /** Returns whether the agent has reported the session as a subagent's. */
  hasChild(sessionId: string): boolean {
    return this.#subagents.has(sessionId);
  }

  /** Reads an update of a subagent's session, whether the agent has announced the session or not. */
  readChild(sessionId: string, update: unknown, timestamp: string): void {
    const type = updateType(update);
    if (!shownOfChildren.has(type)) this.#keepAside(update);
    else if (!this.#isLate(type, update)) this.#running(timestamp).child(sessionId, update);
  }

  /**
   * Reads the call in a permission request of the session `sessionId`, which may be a subagent's. Returns the request's
   * description of the call, the subagent that asks, and the call's id if the request contains an id.
   */
  toolCall(update: unknown, timestamp: string, sessionId?: string): PermissionRequestInfo {
    const known = sessionId === undefined ? undefined : this.#subagents.get(sessionId);
    const name = subagentName(this.#subagents, sessionId ?? '');
    const by = known === undefined ? {} : { askedBy: `Subagent “${name}”` };
    return { ...by, ...this.#askedCall(update, timestamp, known?.callId) };
  }

  #askedCall(
    update: unknown,
    timestamp: string,
    parentCallId: string | undefined,
  ): PermissionRequestInfo {
    const callId = callIdOf(update);
    if (callId === undefined) {
      if (update != null) this.#keep(update);
      return { ...askedFromRequest(update) };
    }
    const turn = this.#running(timestamp);
    turn.toolCall(update, 'request', parentCallId);
    return { callId, ...turn.calls.asked(callId, update) };
  }

  /** Shows a warning of Liminal's own in the running turn. */
  warn(title: string, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.warn(title);
  }

  /** Shows a person's message to the running turn. */
  steer(messageId: string, text: string, timestamp: string, blocks: readonly ContentBlock[]): void {
    this.#turn?.at(timestamp);
    this.#turn?.steer(messageId, text, blocks);
  }

  /** Marks a message to the running turn as delivered to the agent. */
  steeredTaken(messageId: string, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.steeredTaken(messageId);
  }

  /** Removes a message to the running turn, because the message begins a turn of its own. */
  steeredLeft(messageId: string, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.steeredLeft(messageId);
  }

  openApproval(request: ApprovalRequest, timestamp: string): void {
    this.#running(timestamp).openApproval(request);
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.closeApproval(approvalId, outcome);
  }

  /** Adds new output of a terminal of ours to the calls that show the terminal. */
  terminalOutput(terminalId: string, text: string, timestamp: string): void {
    this.#terminals.print(terminalId, text);
    this.#turn?.at(timestamp);
    this.#turn?.calls.terminalPrinted(terminalId, text);
  }

  terminalExit(terminalId: string, exit: TerminalExit, _timestamp: string): void {
    this.#terminals.exit(terminalId, exit);
  }

  /** Shows that the user asked to stop the turn. */
  stop(timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.stop();
  }

  /** Ends the turn by the answer to its prompt. */
  finish(response: unknown, timestamp: string): void {
    this.#end((turn) => turn.finish(response), timestamp);
  }

  /** Ends the running turn, if any: the agent has ended, is being ended, or has answered with an error. */
  end(end: TurnEnd, timestamp: string): void {
    this.#end((turn) => turn.end(end), timestamp);
  }

  /** Reads an update about the session rather than the conversation. Returns false if the update's type is unknown. */
  #readSession(type: string, update: unknown, timestamp: string): boolean {
    switch (type) {
      case 'usage_update':
        this.#readUsage(update, timestamp);
        return true;
      case 'available_commands_update': {
        const commands = readCommands(update);
        if (commands !== undefined) this.#options.update({ commands });
        return commands !== undefined;
      }
      case 'current_mode_update':
      case 'config_option_update':
        this.settings(update);
        return true;
      case 'session_info_update':
        return this.#readInfo(update);
      default:
        return false;
    }
  }

  #readInfo(update: unknown): boolean {
    const { fields, rest } = readFields(update, sessionInfo);
    if (fields.title !== undefined) this.#options.update({ title: fields.title });
    const failed = hasFailed(rest?.['_meta']);
    if (failed !== undefined) this.#turn?.failed(failed);
    if (rest !== undefined) this.#keepAside(rest);
    return true;
  }

  #readUsage(update: unknown, timestamp: string): void {
    this.#turn?.at(timestamp);
    if (this.#turn === undefined) this.#usage = readUsageUpdate(update).usage;
    else this.#turn.usage(update);
  }

  #reportSettings(): void {
    this.#options.update({ configOptions: this.#settings.options });
  }

  /**
   * Returns whether an update is about a call of a past turn; if it is, keeps the update for the next turn, because the
   * call itself no longer changes.
   */
  #isLate(type: string, update: unknown): boolean {
    const callId = callIdOf(update);
    if (type !== 'tool_call_update' || callId === undefined) return false;
    if (!this.#endedCalls.has(callId) || this.#turn?.calls.has(callId) === true) return false;
    this.#unplaced.late(callId, update);
    return true;
  }

  #keep(raw: unknown): void {
    if (this.#turn === undefined) this.#unplaced.add(raw);
    else this.#turn.keep(raw);
  }

  #keepAside(raw: unknown): void {
    if (this.#turn === undefined) this.#unplaced.add(raw);
    else this.#turn.keepAside(raw);
  }

  /** Returns the running turn, or a new turn that the agent begins by itself. */
  #running(timestamp: string): AcpTurn {
    const turn = this.#turn;
    if (turn === undefined)
      return this.#begin(this.#options.createTurnId(), 'agent', undefined, timestamp);
    turn.at(timestamp);
    return turn;
  }

  #begin(
    turnId: string,
    trigger: Trigger,
    text: string | undefined,
    timestamp: string,
    blocks: readonly ContentBlock[] = [],
  ): AcpTurn {
    const { cliType: providerId, emit, isReplay = false } = this.#options;
    const modelId = this.#settings.model ?? 'unknown';
    const terminals = this.#terminals;
    const start = { turnId, trigger, modelId, providerId };
    const shared = { terminals, plans: this.#plans, subagents: this.#subagents };
    const turn = new AcpTurn({ ...start, ...shared, isReplay, emit });
    this.#turn = turn;
    turn.at(timestamp);
    turn.begin(text, blocks);
    if (this.#usage !== undefined) turn.count(this.#usage);
    this.#usage = undefined;
    return turn;
  }

  #end(end: (turn: AcpTurn) => unknown[], timestamp: string): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    turn.at(timestamp);
    for (const raw of this.#unplaced.take()) turn.keepAside(raw);
    this.#unplaced.add(...end(turn));
    for (const callId of turn.calls.ids) this.#endedCalls.set(callId, true);
  }
}

/** Returns the commands; undefined if the update has none. A command without a name is left out. */
function readCommands(update: unknown): AgentCommand[] | undefined {
  const { availableCommands } = readFields(update, commandsUpdate).fields;
  return availableCommands?.flatMap((value) => {
    const { name, description = '', input } = readFields(value, command).fields;
    if (name === undefined) return [];
    const hint = input?.hint ?? undefined;
    return [{ name: name.replace(/^\//, ''), description, ...(hint !== undefined && { hint }) }];
  });
}
