import type { ApprovalOutcome } from '@liminal/protocol';
import type { ApprovalRequest } from '../../base/pending-approvals.ts';
import { TurnWriter, type Emit } from '../../base/turn-writer.ts';
import { Calls } from './calls.ts';
import { readBlock } from './content.ts';
import type { Terminal } from './outcome.ts';
import { Speech, type Voice } from './speech.ts';

export type Trigger = 'user' | 'agent';

export interface TurnStart {
  turnId: string;
  trigger: Trigger;
  modelId: string;
  providerId: string;
}

/** One turn's translation: ACP's session updates in, canonical events out. */
export class Turn {
  readonly turnId: string;
  readonly trigger: Trigger;
  readonly speech: Speech;
  readonly calls: Calls;
  readonly #start: TurnStart;
  readonly #writer: TurnWriter;
  #isStopping = false;

  constructor(start: TurnStart, emit: Emit) {
    this.turnId = start.turnId;
    this.trigger = start.trigger;
    this.#start = start;
    this.#writer = new TurnWriter(start.turnId, emit);
    this.speech = new Speech(this.#writer);
    this.calls = new Calls(this.#writer);
  }

  at(timestamp: string): void {
    this.#writer.at(timestamp);
  }

  /** `text` is what the user wrote; there is none in a turn that the agent began. */
  begin(text: string | undefined): void {
    const { modelId, providerId, trigger } = this.#start;
    this.#writer.write({ type: 'response_start', modelId, providerId, trigger });
    if (text === undefined) return;
    const id = `${this.turnId}:user`;
    this.#writer.add({ type: 'message', id, content: text, origin: 'user' });
  }

  chunk(voice: Voice, content: unknown, messageId: string | undefined): void {
    const read = readBlock(content);
    if ('text' in read) this.speech.say(voice, read.text, messageId);
    else if ('block' in read) this.speech.show(voice, read.block, messageId);
    else this.#writer.keep(read.unread);
  }

  keep(raw: unknown): void {
    this.#writer.keep(raw);
  }

  stop(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#writer.write({ type: 'turn_aborted_by_user', reason: 'The user asked to stop.' });
  }

  openApproval({ approvalId, title, callId, options }: ApprovalRequest): void {
    this.#writer.start({
      type: 'approval',
      id: this.#approvalItem(approvalId),
      approvalId,
      title,
      options: [...options],
      ...(callId !== undefined && { callId }),
    });
  }

  closeApproval(approvalId: string, outcome: ApprovalOutcome): void {
    const item = this.#writer.item(this.#approvalItem(approvalId));
    if (item?.type === 'approval') this.#writer.done(item.id, { ...item, outcome });
  }

  end(terminal: Terminal): void {
    this.speech.close();
    this.calls.closeAll(
      terminal.type === 'response_error' ? terminal.error.message : 'The turn ended first.',
    );
    this.#writer.end(terminal);
  }

  #approvalItem(approvalId: string): string {
    return `${this.turnId}:approval:${approvalId}`;
  }
}
