import type { ApprovalOutcome } from '@liminal/protocol';
import type { ApprovalRequest } from '../../base/pending-approvals.ts';
import type { Emit } from '../../base/turn-writer.ts';
import type { SessionUpdate } from '../../provider.ts';
import { isRecord } from './fields.ts';
import { readOutcome, type Terminal } from './outcome.ts';
import type { AcpQuirks } from './quirks.ts';
import type { Voice } from './speech.ts';
import { Turn, type Trigger } from './turn.ts';

export interface AcpTranslatorOptions {
  /** `providerId` of the turns. */
  cliType: string;
  /** The project folder. */
  cwd: string;
  quirks: AcpQuirks;
  /** Ids for turns that the agent begins of its own accord. */
  createTurnId: () => string;
  emit: Emit;
  update: (update: SessionUpdate) => void;
}

/** How a terminal of ours ended. */
export interface TerminalExit {
  exitCode?: number | null;
  signal?: string | null;
}

const voices: Record<string, Voice> = {
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
  user_message_chunk: 'user',
};

/**
 * Reads an ACP agent's session updates as canonical events. Any JSON may come: what is not understood is kept with the
 * nearest item. Times are ISO 8601 UTC. What is said outside a turn begins one of the agent's own, which the next
 * `begin`, `finish` or `end` closes.
 */
export class AcpTranslator {
  readonly #options: AcpTranslatorOptions;
  #turn: Turn | undefined;

  constructor(options: AcpTranslatorOptions) {
    this.#options = options;
  }

  get turn(): { turnId: string; trigger: Trigger } | undefined {
    const turn = this.#turn;
    return turn === undefined ? undefined : { turnId: turn.turnId, trigger: turn.trigger };
  }

  /** Modes, config options and models, as the answer to `session/new`, `load`, `resume` or `set_*` has them. */
  settings(_raw: unknown): void {}

  /** The prompt is on its way: its turn begins with the user's message. */
  begin(turnId: string, text: string, timestamp: string): void {
    this.end({ type: 'response_done', status: 'completed', finishReason: null }, timestamp);
    this.#begin(turnId, 'user', text, timestamp);
  }

  /** `params.update` of a `session/update`, as it came. */
  read(update: unknown, timestamp: string): void {
    if (!isRecord(update)) return this.#keep(update);
    const type = typeof update['sessionUpdate'] === 'string' ? update['sessionUpdate'] : '';
    const voice = Object.hasOwn(voices, type) ? voices[type] : undefined;
    if (voice !== undefined) {
      const messageId = update['messageId'];
      const id = typeof messageId === 'string' ? messageId : undefined;
      this.#running(timestamp).chunk(voice, update['content'], id);
    } else if (type === 'tool_call' || type === 'tool_call_update') {
      this.toolCall(update, timestamp);
    } else this.#keep(update);
  }

  /** A call, or what is new of one; also from a permission request. Gives the call's id, if it has one. */
  toolCall(update: unknown, timestamp: string): string | undefined {
    const turn = this.#running(timestamp);
    turn.speech.close();
    return turn.calls.read(update);
  }

  openApproval(request: ApprovalRequest, timestamp: string): void {
    this.#running(timestamp).openApproval(request);
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome, timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.closeApproval(approvalId, outcome);
  }

  /** What a terminal of ours has printed since; it shows in the calls that show the terminal. */
  terminalOutput(_terminalId: string, _text: string, _timestamp: string): void {}

  terminalExit(_terminalId: string, _exit: TerminalExit, _timestamp: string): void {}

  /** The user asked to stop the turn. */
  stop(timestamp: string): void {
    this.#turn?.at(timestamp);
    this.#turn?.stop();
  }

  /** The answer to the prompt. */
  finish(response: unknown, timestamp: string): void {
    this.end(readOutcome(response), timestamp);
  }

  /** The running turn, if there is one, ends like this: the agent is gone, sent away, or answered with an error. */
  end(terminal: Terminal, timestamp: string): void {
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.at(timestamp);
    turn?.end(terminal);
  }

  #keep(raw: unknown): void {
    this.#turn?.keep(raw);
  }

  /** The running turn; where nobody asked for one, the agent begins its own. */
  #running(timestamp: string): Turn {
    const turn = this.#turn;
    if (turn === undefined)
      return this.#begin(this.#options.createTurnId(), 'agent', undefined, timestamp);
    turn.at(timestamp);
    return turn;
  }

  #begin(turnId: string, trigger: Trigger, text: string | undefined, timestamp: string): Turn {
    const { cliType: providerId, emit } = this.#options;
    const turn = new Turn({ turnId, trigger, modelId: 'unknown', providerId }, emit);
    this.#turn = turn;
    turn.at(timestamp);
    turn.begin(text);
    return turn;
  }
}
