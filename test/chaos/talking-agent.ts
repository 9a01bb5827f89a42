import { setTimeout as delay } from 'node:timers/promises';
import type { CliProvider, CreateSessionOptions, ProviderSession } from '@liminal/agents';
import { ProviderError, ProviderListeners } from '@liminal/agents';
import type { AgentInfo, ApprovalAnswer, EventPayload, OutputItem } from '@liminal/protocol';
import { type Step, type Talk, talkOf } from './talk.ts';

const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Deny', kind: 'reject_once' as const },
];
type Finished = Extract<OutputItem, { type: 'message' | 'reasoning' }>;

/** A turn that is being talked through. */
interface Talking {
  turnId: string;
  over: AbortController;
  /** Waits for the answer to a permission request. */
  asked?: { approvalId: string; answered: PromiseWithResolvers<string> };
}

/** An agent without a process that talks by itself, as the message it is given decides. It knows every session. */
export class TalkingAgent implements CliProvider {
  readonly cliType = 'talking';
  readonly #listeners = new ProviderListeners();
  readonly #alive = new Set<string>();
  readonly #talking = new Map<string, Talking>();

  readonly #onDelivered: (sessionId: string, turnId: string) => void;

  constructor(onDelivered: (sessionId: string, turnId: string) => void) {
    this.#onDelivered = onDelivered;
  }

  async createSession({ sessionId = '' }: CreateSessionOptions): Promise<ProviderSession> {
    return this.loadSession(sessionId);
  }

  async loadSession(sessionId: string): Promise<ProviderSession> {
    this.#alive.add(sessionId);
    return { sessionId, cliType: this.cliType };
  }

  async sendMessage(sessionId: string, message: string, { turnId = '' } = {}) {
    if (!this.#alive.has(sessionId)) {
      throw new ProviderError('PROCESS_CRASH', 'The process is gone.');
    }
    this.#onDelivered(sessionId, turnId);
    const talking: Talking = { turnId, over: new AbortController() };
    this.#talking.set(sessionId, talking);
    this.#say(sessionId, turnId, {
      type: 'response_start',
      modelId: 'talker-1',
      providerId: this.cliType,
    });
    const itemId = `${turnId}/user`;
    const start = { type: 'item_start', itemId, itemType: 'message', origin: 'user' } as const;
    this.#say(sessionId, turnId, start);
    const finalItem = { type: 'message', id: itemId, content: message, origin: 'user' } as const;
    this.#say(sessionId, turnId, { type: 'item_done', itemId, finalItem });
    void this.#talk(sessionId, talking, talkOf(message));
    return { turnId };
  }

  async cancelTurn(sessionId: string): Promise<void> {
    const talking = this.#stop(sessionId);
    if (!talking) return;
    this.#say(sessionId, talking.turnId, {
      type: 'response_done',
      status: 'cancelled',
      finishReason: 'cancelled',
    });
  }

  async killSession(sessionId: string): Promise<void> {
    this.#stop(sessionId);
    if (this.#alive.delete(sessionId)) this.#listeners.exit(sessionId, { expected: true });
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    { optionId }: ApprovalAnswer,
  ): Promise<void> {
    const asked = this.#talking.get(sessionId)?.asked;
    if (asked?.approvalId !== approvalId) {
      throw new ProviderError('APPROVAL_NOT_FOUND', `Nobody waits for an answer to ${approvalId}.`);
    }
    asked.answered.resolve(optionId);
  }

  isAlive = (sessionId: string): boolean => this.#alive.has(sessionId);
  onEvent: CliProvider['onEvent'] = (id, callback) => this.#listeners.onEvent(id, callback);
  onUpsert: CliProvider['onUpsert'] = (id, callback) => this.#listeners.onUpsert(id, callback);
  onTurn: CliProvider['onTurn'] = (id, callback) => this.#listeners.onTurn(id, callback);
  onUpdate: CliProvider['onUpdate'] = (id, callback) => this.#listeners.onUpdate(id, callback);
  onExit: CliProvider['onExit'] = (id, callback) => this.#listeners.onExit(id, callback);

  async describe(): Promise<AgentInfo> {
    const names = { name: 'Talker', description: 'Talks by itself.' };
    return { cliType: this.cliType, ...names, available: true };
  }

  async close(): Promise<void> {
    for (const sessionId of this.#talking.keys()) this.#stop(sessionId);
    this.#alive.clear();
  }

  async #talk(sessionId: string, talking: Talking, { steps, ending }: Talk): Promise<void> {
    const { turnId, over } = talking;
    const say = (payload: EventPayload): void => {
      if (!over.signal.aborted) this.#say(sessionId, turnId, payload);
    };
    for (const [index, step] of steps.entries()) {
      if (over.signal.aborted) return;
      await this.#take(step, `${turnId}/${index}`, talking, say);
    }
    if (over.signal.aborted) return;
    this.#stop(sessionId);
    if (ending === 'crash') {
      this.#alive.delete(sessionId);
      this.#listeners.exit(sessionId, { expected: false });
    } else if (ending === 'error') {
      const error = { code: 'OVERLOADED', message: 'The model is overloaded.' };
      this.#say(sessionId, turnId, { type: 'response_error', error });
    } else {
      this.#say(sessionId, turnId, { type: 'response_done', status: 'completed' });
    }
  }

  async #take(
    step: Step,
    itemId: string,
    talking: Talking,
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

  #say(sessionId: string, turnId: string, payload: EventPayload): void {
    this.#listeners.emit(sessionId, { turnId, timestamp: new Date().toISOString(), payload });
  }

  #stop(sessionId: string): Talking | undefined {
    const talking = this.#talking.get(sessionId);
    talking?.over.abort();
    this.#talking.delete(sessionId);
    return talking;
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Says words one by one, each another one, so that a text that is cut or doubled is not a part of the right one. */
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
  talking: Talking,
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
