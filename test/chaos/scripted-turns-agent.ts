import { setTimeout as delay } from 'node:timers/promises';
import type {
  AgentDriver,
  AgentSession,
  SessionOpening,
  SessionOutput,
  SteerTarget,
  StoredFork,
} from '@liminal/agents';
import { agentErrors, ProviderError } from '@liminal/agents';
import {
  type AgentInfo,
  type ApprovalAnswer,
  type EventPayload,
  type OutputItem,
  steeredItemId,
} from '@liminal/protocol';
import { type Step, takesUp, type TurnScript, turnScriptOf } from './turn-script.ts';

const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' as const },
];
type Finished = Extract<OutputItem, { type: 'message' | 'reasoning' }>;

/** A steered message. */
interface SteeredMessage {
  messageId: string;
  message: string;
}

/** A turn that the agent is now playing. */
interface RunningTurn {
  turnId: string;
  over: AbortController;
  /** Steered messages that wait for the turn's end. */
  left: SteeredMessage[];
  /** Set while the turn waits for the answer to a permission request. */
  asked?: { approvalId: string; answered: PromiseWithResolvers<string> };
}

type OnDelivered = (sessionId: string, turnId: string) => void;

/**
 * An agent without a process. The text of a message determines what the agent does. The agent accepts every session id.
 */
export class ScriptedTurnsAgent implements AgentDriver {
  readonly cliType = 'talking';
  readonly name = 'Talker';
  readonly #onDelivered: OnDelivered;

  constructor(onDelivered: OnDelivered) {
    this.#onDelivered = onDelivered;
  }

  async open(opening: SessionOpening): Promise<AgentSession> {
    return new TalkingSession(opening, this.#onDelivered);
  }

  /** Creates no copy, because the agent stores nothing. */
  async fork(): Promise<StoredFork> {
    return { copies: new Map(), left: new Set() };
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name } = this;
    return { cliType, name, description: 'Talks by itself.', available: true };
  }
}

class TalkingSession implements AgentSession {
  isAlive = true;
  readonly #sessionId: string;
  readonly #output: SessionOutput;
  readonly #onDelivered: OnDelivered;
  #turn: RunningTurn | undefined;
  /** Each of these messages will begin a turn of its own, one after another. */
  readonly #waiting: SteeredMessage[] = [];

  constructor({ sessionId, output }: SessionOpening, onDelivered: OnDelivered) {
    this.#sessionId = sessionId;
    this.#output = output;
    this.#onDelivered = onDelivered;
  }

  async send(message: string, turnId: string): Promise<void> {
    if (!this.isAlive) throw new ProviderError('PROCESS_CRASH', 'The process is gone.');
    this.#onDelivered(this.#sessionId, turnId);
    const talking: RunningTurn = { turnId, over: new AbortController(), left: [] };
    this.#turn = talking;
    this.#emit(turnId, { type: 'response_start', modelId: 'talker-1', providerId: 'talking' });
    const itemId = `${turnId}/user`;
    this.#emit(turnId, { type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    const finalItem = { type: 'message', id: itemId, content: message, origin: 'user' } as const;
    this.#emit(turnId, { type: 'item_done', itemId, finalItem });
    void this.#playTurn(talking, turnScriptOf(message));
  }

  async steer(message: string, { turnId, messageId }: SteerTarget): Promise<void> {
    const talking = this.#turn;
    if (!this.isAlive || talking?.turnId !== turnId) throw agentErrors.NOTHING_TO_STEER.noTurn();
    this.#onDelivered(this.#sessionId, messageId);
    const itemId = steeredItemId(turnId, messageId);
    const said = { itemType: 'message', origin: 'user', delivery: 'sent' } as const;
    this.#emit(turnId, { type: 'item_start', itemId, ...said, initialContent: message });
    const { isOwnTurn, afterMs } = takesUp(message);
    if (isOwnTurn) talking.left.push({ messageId, message });
    else void this.#takeUp(talking, itemId, message, afterMs);
  }

  async #takeUp({ turnId, over }: RunningTurn, id: string, content: string, afterMs: number) {
    await pause(afterMs, over.signal);
    if (over.signal.aborted) return;
    const item = { type: 'message', id, content, origin: 'user', delivery: 'taken' } as const;
    this.#emit(turnId, { type: 'item_done', itemId: id, finalItem: item });
  }

  async cancel(): Promise<void> {
    const talking = this.#stop();
    if (!talking) return;
    const status = 'cancelled';
    this.#emit(talking.turnId, { type: 'response_done', status, finishReason: status });
  }

  async close(): Promise<void> {
    this.#stop();
    if (!this.isAlive) return;
    // Change the state first, because a listener of the exit event may close the session again.
    this.isAlive = false;
    this.#output.exit({ expected: true });
  }

  async answerApproval(approvalId: string, { optionId }: ApprovalAnswer): Promise<void> {
    const asked = this.#turn?.asked;
    if (asked?.approvalId !== approvalId) {
      throw new ProviderError(
        'APPROVAL_NOT_FOUND',
        `No request ${approvalId} waits for an answer.`,
      );
    }
    asked.answered.resolve(optionId);
  }

  async #playTurn(talking: RunningTurn, { steps, ending }: TurnScript): Promise<void> {
    const { turnId, over } = talking;
    const say = (payload: EventPayload): void => {
      if (!over.signal.aborted) this.#emit(turnId, payload);
    };
    for (const [index, step] of steps.entries()) {
      if (over.signal.aborted) return;
      await this.#take(step, `${turnId}/${index}`, talking, say);
    }
    if (over.signal.aborted) return;
    for (const { messageId } of talking.left) {
      const itemId = steeredItemId(turnId, messageId);
      this.#emit(turnId, { type: 'item_cancelled', itemId, reason: 'own_turn' });
    }
    this.#stop();
    if (ending === 'crash') {
      this.isAlive = false;
      this.#output.exit({ expected: false });
    } else if (ending === 'error') {
      const error = { code: 'OVERLOADED', message: 'The model is overloaded.' };
      this.#emit(turnId, { type: 'response_error', error });
    } else {
      this.#emit(turnId, { type: 'response_done', status: 'completed' });
    }
    this.#waiting.push(...talking.left);
    const next = this.#waiting.shift();
    if (next && this.isAlive) await this.send(next.message, next.messageId);
  }

  async #take(
    step: Step,
    itemId: string,
    talking: RunningTurn,
    say: (payload: EventPayload) => void,
  ): Promise<void> {
    const { signal } = talking.over;
    if (step.kind === 'pause') return pause(step.ms, signal);
    if (step.kind === 'ask') return ask(itemId, talking, say);
    if (step.kind === 'tool') return useTool(step, itemId, signal, say);
    const type = step.kind === 'think' ? ('reasoning' as const) : ('message' as const);
    say({ type: 'item_start', itemId, itemType: type });
    const content = await spell(step, itemId, signal, say);
    const finalItem: Finished = { type, id: itemId, content, origin: 'agent' };
    const error = { code: 'CUT_OFF', message: 'The model broke off.' };
    if (step.kind === 'withdraw') say({ type: 'item_cancelled', itemId });
    else if (step.kind === 'fail') say({ type: 'item_error', itemId, error });
    else say({ type: 'item_done', itemId, finalItem });
  }

  #emit(turnId: string, payload: EventPayload): void {
    this.#output.emit({ turnId, timestamp: new Date().toISOString(), payload });
  }

  #stop(): RunningTurn | undefined {
    const talking = this.#turn;
    talking?.over.abort();
    this.#turn = undefined;
    return talking;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Sends words one by one. Every word is different, so that a text that was cut or sent twice is never a part of the
 * right text.
 */
async function spell(
  { words, everyMs }: { words: number; everyMs: number },
  itemId: string,
  signal: AbortSignal,
  say: (payload: EventPayload) => void,
): Promise<string> {
  const said = Array.from({ length: words }, (_, index) => `${index}:${itemId.slice(0, 4)} `);
  for (const deltaContent of said) {
    say({ type: 'item_delta', itemId, deltaContent });
    if (everyMs > 0) await pause(everyMs, signal);
  }
  return said.join('');
}

async function ask(
  approvalId: string,
  talking: RunningTurn,
  say: (payload: EventPayload) => void,
): Promise<void> {
  const answered = Promise.withResolvers<string>();
  talking.asked = { approvalId, answered };
  const title = 'Run it?';
  say({
    type: 'item_start',
    itemId: approvalId,
    itemType: 'approval',
    approvalId,
    title,
    options,
  });
  const cut = new Promise<undefined>((resolve) => {
    talking.over.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const optionId = await Promise.race([answered.promise, cut]);
  if (optionId === undefined) return;
  const outcome = { outcome: 'selected', optionId } as const;
  const finalItem = {
    type: 'approval',
    id: approvalId,
    approvalId,
    title,
    options,
    outcome,
  } as const;
  say({
    type: 'item_done',
    itemId: approvalId,
    finalItem: { ...finalItem, options: [...options] },
  });
}

async function useTool(
  step: { words: number; everyMs: number },
  itemId: string,
  signal: AbortSignal,
  say: (payload: EventPayload) => void,
): Promise<void> {
  const called = { name: 'Bash', callId: `${itemId}/call` };
  const args = JSON.stringify({ command: 'true' });
  say({ type: 'item_start', itemId, itemType: 'function_call', arguments: args, ...called });
  const call = { type: 'function_call', id: itemId, ...called, arguments: args } as const;
  say({ type: 'item_done', itemId, finalItem: { ...call, origin: 'agent' } });
  const id = `${itemId}/output`;
  say({ type: 'item_start', itemId: id, itemType: 'function_call_output', callId: called.callId });
  const output = await spell(step, id, signal, say);
  const answer = { type: 'function_call_output', id, callId: called.callId, output } as const;
  say({ type: 'item_done', itemId: id, finalItem: { ...answer, success: true, origin: 'system' } });
}
