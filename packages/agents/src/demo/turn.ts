import {
  closeOpenItems,
  emptyResponse,
  foldResponse,
  stampEvent,
  toResponse,
  type ApprovalAnswer,
  type ApprovalOutcome,
  type EventDraft,
  type EventPayload,
  type OutputItem,
  type Usage,
} from '@liminal/protocol';
import { answeredWith } from '../base/pending-approvals.ts';
import { ProviderError } from '../errors.ts';
import { perform, type Approval, type Beat, type Ending } from './perform.ts';
import type { Scene } from './script.ts';

interface TurnOptions {
  sessionId: string;
  turnId: string;
  message: string;
  scene: Scene;
  emit: (draft: EventDraft) => void;
  /** How many times faster than normal, asked before each event. */
  speed: () => number;
}

/** A turn that falls further behind than this (a laptop that slept) goes on from where it is. */
const maxLagMs = 1_000;

/** Plays one scene against the clock. */
export class Turn {
  readonly #options: TurnOptions;
  readonly #performance;
  /** What has been said so far, to know what is open. */
  #said = emptyResponse();
  #timer: NodeJS.Timeout;
  /** When the last event was due, ms since the epoch. */
  #due = Date.now();
  #question: Approval | undefined;
  #over = false;
  /** Whether the terminal event has been said, or is being said. */
  ended = false;

  /** Says the turn's beginning at once, the rest later. */
  constructor(options: TurnOptions) {
    this.#options = options;
    const { scene, turnId, message } = options;
    this.#performance = perform(scene, turnId);
    const itemId = `${turnId}-user`;
    this.#write({
      type: 'response_start',
      modelId: 'recorded',
      providerId: 'demo',
      trigger: 'user',
    });
    this.#write({ type: 'item_start', itemId, itemType: 'message', origin: 'user' });
    const finalItem = { id: itemId, type: 'message', content: message, origin: 'user' } as const;
    this.#write({ type: 'item_done', itemId, finalItem });
    this.#timer = setTimeout(() => this.#advance());
  }

  /** Throws ProviderError `APPROVAL_NOT_FOUND`, `INVALID_OPTION`. */
  answer(approvalId: string, answer: ApprovalAnswer): void {
    const question = this.#question;
    if (question?.approvalId !== approvalId) throw approvalOver(approvalId);
    const outcome = answeredWith(question.options, answer);
    this.#due = Date.now();
    this.#advance(outcome);
  }

  /** Ends it as cancelled. */
  cancel(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#write({ type: 'turn_aborted_by_user', reason });
    this.#end({ status: 'cancelled' });
  }

  #advance(outcome?: ApprovalOutcome): void {
    let answer = outcome;
    while (!this.#over) {
      const next = this.#performance.next(answer);
      if (next.done) return this.#end(next.value);
      answer = undefined;
      const beat = next.value;
      this.#due = Math.max(this.#due, Date.now() - maxLagMs) + beat.after / this.#options.speed();
      const wait = this.#due - Date.now();
      if (wait >= 1) {
        this.#timer = setTimeout(() => this.#show(beat) && this.#advance(), wait);
        return;
      }
      if (!this.#show(beat)) return;
    }
  }

  /** False where the turn now waits for a person. */
  #show(beat: Beat): boolean {
    this.#question = beat.question;
    if (beat.payload) this.#write(beat.payload);
    return beat.question === undefined;
  }

  #end(ending: Ending | { status: 'cancelled' }): void {
    // A listener may cancel while this is being said: it ends once (invariant 2).
    this.#over = true;
    clearTimeout(this.#timer);
    this.#question = undefined;
    for (const payload of closeOpenItems(this.#said, ending)) this.#write(payload);
    this.ended = true;
    const usage = this.#usage();
    this.#write(
      ending.status === 'error'
        ? { type: 'response_error', error: ending.error, usage }
        : {
            type: 'response_done',
            status: ending.status,
            finishReason: finishReason[ending.status],
            usage,
          },
    );
  }

  /** By the rule of thumb of four characters a token: nothing was recorded of a model. */
  #usage(): Usage {
    const items = toResponse(this.#said)?.outputItems ?? [];
    const spoken = items.slice(1).map(textOf).join('');
    const tokens = (text: string) => Math.ceil(text.length / 4);
    return { inputTokens: tokens(this.#options.message), outputTokens: tokens(spoken) };
  }

  #write(payload: EventPayload): void {
    const { sessionId, turnId, emit } = this.#options;
    const draft = { turnId, timestamp: new Date().toISOString(), payload };
    const traceContext = { traceparent: '' };
    const run = { sessionId, runId: turnId, traceContext };
    this.#said = foldResponse(this.#said, stampEvent(draft, run, this.#said.lastSeq + 1));
    emit(draft);
  }
}

const finishReason = { completed: 'end_turn', cancelled: 'cancelled' };

function textOf(item: OutputItem): string {
  if (item.type === 'message' || item.type === 'reasoning') return item.content;
  return item.type === 'function_call' ? item.arguments : '';
}

function approvalOver(approvalId: string): ProviderError {
  return new ProviderError(
    'APPROVAL_NOT_FOUND',
    `The permission request "${approvalId}" is over: it was answered, or its turn has ended.`,
  );
}
