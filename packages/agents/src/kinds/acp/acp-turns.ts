import { setTimeout as delay } from 'node:timers/promises';
import type { ContentBlock } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import { isoNow as now } from '../../base/iso-clock.ts';
import type { AcpAgent, SteeredMessages } from './acp-agent.ts';
import type { SessionClient } from './client-side/session-client.ts';
import { authSentence, describeError, readRpcError, rpc } from './errors.ts';
import { acpPrompt } from './prompt.ts';
import { isRecord } from './translate/fields.ts';
import type { TurnEnd } from '../../base/turn-writer.ts';
import type { AcpTranslator } from './translate/translator.ts';

export interface AcpTurnsOptions {
  /** The agent's name in the UI. */
  name: string;
  agent: AcpAgent;
  agentSessionId: string;
  translator: AcpTranslator;
  /** Puts the agent's questions to people. */
  client: SessionClient;
  /** Called when the agent has not stopped within twice the limit. */
  onSilent: () => void;
  cancelLimitMs: number;
  ownTurnIdleMs: number;
}

/** A prompt that the agent has not answered yet. */
interface Prompt {
  isCancelled: boolean;
  /** Set for a cancelled turn: resolves when all programs that the turn started in Liminal's terminals have ended. */
  stopped?: Promise<void>;
  /** Whether the prompt's turn was ended before the agent answered; the answer is then ignored. */
  isOver: boolean;
  answered: PromiseWithResolvers<void>;
  timer?: NodeJS.Timeout;
}

/** A message to the running turn that waits until the agent asks for messages. */
interface Steered {
  messageId: string;
  text: string;
  blocks: readonly ContentBlock[];
}

const cancelled: TurnEnd = {
  type: 'response_done',
  status: 'cancelled',
  finishReason: 'cancelled',
};
const completed: TurnEnd = { type: 'response_done', status: 'completed', finishReason: null };

/** One session's turns: one prompt at a time, and each turn ends exactly once (invariant 2). */
export class AcpTurns {
  readonly #options: AcpTurnsOptions;
  #prompt: Prompt | undefined;
  #ownTurnTimer: NodeJS.Timeout | undefined;
  #steered: Steered[] = [];
  /** Messages whose turn ended before the agent asked for them: each begins a turn of its own. */
  #left: Steered[] = [];

  constructor(options: AcpTurnsOptions) {
    this.#options = options;
  }

  /** Whether the agent still works on a prompt whose turn has been ended. */
  get isStale(): boolean {
    return this.#prompt?.isOver === true;
  }

  /** Whether the agent still works on a prompt that was cancelled. */
  get isCancelled(): boolean {
    return this.#prompt?.isCancelled === true;
  }

  /** Begins a turn, once the agent has answered a prompt whose turn was ended early. Throws `TURN_IN_PROGRESS`. */
  async send(
    text: string,
    turnId: string,
    blocks: readonly ContentBlock[],
    check: () => void,
  ): Promise<void> {
    for (let prompt = this.#prompt; prompt !== undefined; prompt = this.#prompt) {
      if (!prompt.isOver) {
        throw errors.TURN_IN_PROGRESS.working(this.#options.name);
      }
      await prompt.answered.promise;
    }
    check();
    clearTimeout(this.#ownTurnTimer);
    this.#ownTurnTimer = undefined;
    // Questions of a turn that the agent began end with that turn.
    this.#cancelQuestions();
    this.#begin(text, turnId, blocks);
  }

  /** Keeps a message to the running turn until the agent asks for messages. Throws `NOTHING_TO_STEER`. */
  steer(text: string, { turnId, messageId }: SteerTarget, blocks: readonly ContentBlock[]): void {
    const { translator } = this.#options;
    if (!this.#isAtWork || translator.turn?.turnId !== turnId)
      throw errors.NOTHING_TO_STEER.noTurn();
    translator.steer(messageId, text, now(), blocks);
    this.#steered.push({ messageId, text, blocks });
  }

  /** Returns the waiting messages to the running turn for the agent, and reports them as delivered. */
  takeSteered(): SteeredMessages {
    const taken = this.#isAtWork ? this.#steered.splice(0) : [];
    for (const { messageId } of taken) this.#options.translator.steeredTaken(messageId, now());
    return {
      messages: taken.map(({ text }) => text),
      items: taken.map(({ text, blocks }) => ({
        content: acpPrompt(text, blocks),
        displayText: text,
      })),
      hasQueuedPrompt: false,
    };
  }

  /** Stops the running turn, if any, and the programs that the turn started in Liminal's terminals. */
  cancel(): void {
    const { translator, client } = this.#options;
    if (translator.turn === undefined) return;
    translator.stop(now());
    this.#sendCancel();
    this.#cancelQuestions();
    const stopped = client.terminals.cancelTurn();
    const prompt = this.#prompt;
    if (prompt === undefined) {
      // A turn that the agent began has no prompt, so no answer will end the turn.
      translator.end(cancelled, now());
      return;
    }
    prompt.isCancelled = true;
    prompt.stopped ??= stopped;
    prompt.timer ??= setTimeout(() => this.#giveUp(prompt), this.#options.cancelLimitMs);
  }

  /** Ends the turn because the agent has ended or is being ended. */
  end(end: TurnEnd): void {
    clearTimeout(this.#ownTurnTimer);
    const prompt = this.#prompt;
    this.#prompt = undefined;
    clearTimeout(prompt?.timer);
    this.#steered = [];
    this.#left = [];
    this.#options.translator.end(end, now());
    this.#cancelQuestions();
    prompt?.answered.resolve();
  }

  /** Called whenever the agent sends something. A turn that the agent began ends after `ownTurnIdleMs` of silence. */
  onActivity(): void {
    if (this.#options.translator.turn?.trigger !== 'agent') return;
    this.#ownTurnTimer ??= setTimeout(() => this.#endOwnTurn(), this.#options.ownTurnIdleMs);
    this.#ownTurnTimer.refresh();
  }

  /** Whether the agent works on a prompt that was not cancelled. */
  get #isAtWork(): boolean {
    const prompt = this.#prompt;
    return prompt !== undefined && !prompt.isOver && !prompt.isCancelled;
  }

  #begin(text: string, turnId: string, blocks: readonly ContentBlock[]): void {
    this.#options.translator.begin(turnId, text, now(), blocks);
    this.#ask(acpPrompt(text, blocks));
  }

  #ask(content: readonly object[]): void {
    const prompt: Prompt = {
      isCancelled: false,
      isOver: false,
      answered: Promise.withResolvers<void>(),
    };
    this.#prompt = prompt;
    const { translator } = this.#options;
    this.#request(content).then(
      (answer) => this.#settle(prompt, () => this.#finish(asCancelled(prompt, answer))),
      (error: unknown) =>
        this.#settle(prompt, () => translator.end(this.#failure(prompt, error), now())),
    );
  }

  /** Adds a notice to an empty turn: some agents end a turn without output when their model has refused the message. */
  #finish(answer: unknown): void {
    const { translator, name } = this.#options;
    const hasEnded = isRecord(answer) && (answer['stopReason'] ?? 'end_turn') === 'end_turn';
    if (hasEnded && translator.isSilent) {
      const title = `${name} ended its turn without an answer.`;
      translator.read({ sessionUpdate: 'notice', severity: 'info', title }, now());
    }
    translator.finish(answer, now());
  }

  #request(prompt: readonly object[]): Promise<unknown> {
    const { agent, agentSessionId: sessionId } = this.#options;
    // Output from an earlier turn does not explain the end of this turn.
    agent.forgetOutput();
    return agent.request('session/prompt', { sessionId, prompt });
  }

  #sendCancel(): void {
    const { agent, agentSessionId: sessionId } = this.#options;
    agent.notify('session/cancel', { sessionId });
  }

  #cancelQuestions(): void {
    this.#options.client.cancelQuestions('turn_ended');
  }

  /** Ends the turn. A cancelled turn first waits, up to the limit, for the programs that the turn started. */
  #settle(prompt: Prompt, endTurn: () => void): void {
    const { stopped } = prompt;
    if (stopped === undefined || prompt.isOver) return this.#endPrompt(prompt, endTurn);
    clearTimeout(prompt.timer);
    const limit = delay(this.#options.cancelLimitMs, undefined, { ref: false });
    void Promise.race([stopped, limit]).then(() => this.#endPrompt(prompt, endTurn));
  }

  #endPrompt(prompt: Prompt, endTurn: () => void): void {
    if (this.#prompt !== prompt) return;
    this.#leaveOver(prompt);
    this.#prompt = undefined;
    clearTimeout(prompt.timer);
    try {
      if (!prompt.isOver) endTurn();
    } catch (error) {
      const message = `The end of the turn could not be read. ${String(error)}`;
      const failed: TurnEnd = {
        type: 'response_error',
        error: { code: 'INTERNAL_ERROR', message },
      };
      this.#options.translator.end(failed, now());
    }
    this.#cancelQuestions();
    prompt.answered.resolve();
    const next = this.#left.shift();
    if (next !== undefined) this.#begin(next.text, next.messageId, next.blocks);
  }

  /**
   * Begins a turn for each message to the ended turn that the agent did not request. If a person stopped the turn, the
   * messages stay in the session's queue instead.
   */
  #leaveOver({ isCancelled }: Prompt): void {
    const steered = this.#steered.splice(0);
    if (isCancelled) return;
    for (const { messageId } of steered) this.#options.translator.steeredLeft(messageId, now());
    this.#left.push(...steered);
  }

  #giveUp(prompt: Prompt): void {
    prompt.isOver = true;
    this.#options.translator.end(cancelled, now());
    prompt.timer = setTimeout(this.#options.onSilent, this.#options.cancelLimitMs);
  }

  #failure(prompt: Prompt, error: unknown): TurnEnd {
    if (prompt.isCancelled) return cancelled;
    const answer = readRpcError(error);
    const { name, agent } = this.#options;
    if (answer?.code === rpc.authRequired) {
      const message = authSentence(name, agent.authMethods, answer);
      return { type: 'response_error', error: { code: 'AUTH_REQUIRED', message } };
    }
    const message = `${name} could not continue. ${describeError(error)}`;
    return { type: 'response_error', error: { code: 'AGENT_ERROR', message } };
  }

  #endOwnTurn(): void {
    this.#ownTurnTimer = undefined;
    if (this.#options.client.isAsking) this.onActivity();
    else if (this.#options.translator.turn?.trigger === 'agent') {
      this.#options.translator.end(completed, now());
    }
  }
}

/** Marks the answer of a cancelled prompt as cancelled: some agents give their usual stop reason. */
const asCancelled = ({ isCancelled }: Prompt, answer: unknown): unknown =>
  isCancelled && isRecord(answer) ? { ...answer, stopReason: 'cancelled' } : answer;
