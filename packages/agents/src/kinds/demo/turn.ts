import type { ApprovalAnswer, ApprovalOutcome, ContentBlock, EventDraft } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import { answeredWith } from '../../base/pending-approvals.ts';
import { TurnWriter } from '../../base/turn-writer.ts';
import { perform, type Approval, type Beat, type SceneEnd } from './perform.ts';
import type { Scene } from './script.ts';

interface DemoTurnOptions {
  turnId: string;
  message: string;
  blocks: readonly ContentBlock[];
  scene: Scene;
  emit: (draft: EventDraft) => void;
  /** Returns the speed relative to the recording; called before each step. */
  speed: () => number;
}

/**
 * If a turn is further behind its schedule than this, in ms, the turn continues from now instead of catching up. A
 * delay can be so long, for example, after a laptop has slept.
 */
const maxLagMs = 1_000;

/** Plays one scene in real time. */
export class DemoTurn {
  readonly turnId: string;
  readonly #message: string;
  readonly #speed: () => number;
  readonly #writer: TurnWriter;
  readonly #performance;
  /** The number of characters that the agent has written so far. */
  #spoken = 0;
  #timer: NodeJS.Timeout;
  /** The time at which the last step was due, on the clock of `performance.now()`. */
  #due = performance.now();
  #question: Approval | undefined;
  readonly #steered: string[] = [];
  #isOver = false;

  /** Emits the turn's first events immediately, and the rest later. */
  constructor({ turnId, message, blocks, scene, emit, speed }: DemoTurnOptions) {
    this.turnId = turnId;
    this.#message = message;
    this.#speed = speed;
    this.#writer = new TurnWriter(turnId, emit);
    this.#performance = perform(scene, turnId);
    const start = { modelId: 'recorded', providerId: 'demo', trigger: 'user' } as const;
    this.#now.begin(start, message, blocks);
    this.#timer = setTimeout(() => this.#advance());
  }

  /** Whether the turn's end has been emitted, or is being emitted. */
  get hasEnded(): boolean {
    return this.#writer.hasEnded;
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND`, `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    const question = this.#question;
    if (question?.approvalId !== approvalId) throw errors.APPROVAL_NOT_FOUND.over();
    const outcome = answeredWith(question.options, answer);
    this.#due = performance.now();
    this.#advance(outcome);
  }

  /** Adds a person's message to the turn; the message counts as read when the next step is played. */
  steer(messageId: string, message: string, blocks: readonly ContentBlock[]): void {
    this.#now.steer(messageId, message, blocks);
    this.#steered.push(messageId);
  }

  /** Ends the turn as cancelled. */
  cancel(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#now.stop(reason);
    this.#end({ status: 'cancelled' });
  }

  get #now(): TurnWriter {
    this.#writer.at(new Date().toISOString());
    return this.#writer;
  }

  #advance(outcome?: ApprovalOutcome): void {
    let answer = outcome;
    while (!this.#isOver) {
      const next = this.#performance.next(answer);
      if (next.done) return this.#end(next.value);
      answer = undefined;
      const beat = next.value;
      this.#due = Math.max(this.#due, performance.now() - maxLagMs) + beat.after / this.#speed();
      const wait = this.#due - performance.now();
      if (wait >= 1) {
        this.#timer = setTimeout(() => this.#show(beat) && this.#advance(), wait);
        return;
      }
      if (!this.#show(beat)) return;
    }
  }

  /** Writes a step. Returns false if the turn now waits for a person's answer. */
  #show(beat: Beat): boolean {
    this.#question = beat.question;
    for (const messageId of this.#steered.splice(0)) this.#now.settle(messageId, 'taken');
    this.#spoken += beat.spoken ?? 0;
    beat.write?.(this.#now);
    return beat.question === undefined;
  }

  #end(ending: SceneEnd | { status: 'cancelled' }): void {
    // A listener may cancel the turn while the terminal event is emitted.
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#question = undefined;
    const usage = {
      inputTokens: tokens(this.#message.length),
      outputTokens: tokens(this.#spoken),
    };
    if (ending.status === 'error') {
      return this.#now.end({ type: 'response_error', error: ending.error, usage });
    }
    const { status } = ending;
    this.#now.end({ type: 'response_done', status, finishReason: finishReason[status], usage });
  }
}

/** Returns an estimate of the number of tokens: the recording has no token counts. */
const tokens = (characters: number): number => Math.ceil(characters / 4);

const finishReason = { completed: 'end_turn', cancelled: 'cancelled' };
