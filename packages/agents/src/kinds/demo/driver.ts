import type { AgentInfo, ApprovalAnswer, ContentBlock, ConfigOption } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import type { StoredFork } from '../../contract/provider.ts';
import type {
  AgentDriver,
  AgentSession,
  SessionOpening,
  SessionOutput,
} from '../../contract/driver.ts';
import type { SteerTarget } from '../../contract/provider.ts';
import { chooseScene, scenes } from './choose-scene.ts';
import { DemoTurn } from './turn.ts';

const paces = {
  normal: { name: 'Normal', description: 'As recorded', speed: 1 },
  fast: { name: 'Fast', description: 'Four times as fast', speed: 4 },
  instant: { name: 'Instant', description: 'Without any wait', speed: Infinity },
};

export interface DemoOptions {
  /** The speed relative to the recording; default: 1. The session's own pace multiplies this speed. */
  speed?: number;
}

/**
 * Plays recorded turns with their recorded timing, to show Liminal without a key, a network or an agent. The demo
 * starts no process, and does not read or change files. The demo stores nothing, so the demo can load any session id.
 */
export class DemoDriver implements AgentDriver {
  readonly cliType = 'demo';
  readonly name = 'Demo';
  readonly prewarms = true;
  readonly #speed: number;

  constructor({ speed = 1 }: DemoOptions = {}) {
    this.#speed = speed;
  }

  async open(opening: SessionOpening): Promise<AgentSession> {
    return new DemoSession(opening, this.#speed);
  }

  async fork(): Promise<StoredFork> {
    return { copies: new Map(), left: new Set() };
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name } = this;
    const description = 'Try Liminal without a key. Nothing on your disk changes.';
    return { cliType, name, description, available: true, demo: true };
  }
}

class DemoSession implements AgentSession {
  isAlive = true;
  /** The types of attachments: the demo shows attachments, but does not read them. */
  readonly accepts = {
    image: ['image/*'],
    audio: ['audio/*'],
    resource: ['text/*', 'application/*'],
  };
  readonly #output: SessionOutput;
  readonly #speed: number;
  #pace: Pace = 'normal';
  /** The number of messages so far. A loaded session starts at 1, so that it does not begin with the tour. */
  #turns: number;
  #turn: DemoTurn | undefined;

  /** Throws ProviderError `INVALID_OPTION`. */
  constructor({ config, earlier, output }: SessionOpening, speed: number) {
    this.#output = output;
    this.#speed = speed;
    this.#turns = earlier ? 1 : 0;
    for (const [id, value] of Object.entries(config)) this.#pace = readPace(id, value);
    output.update({
      configOptions: [paceOption(this.#pace)],
      commands: scenes.map(({ name, description }) => ({ name, description })),
    });
  }

  async send(message: string, turnId: string, blocks: readonly ContentBlock[]): Promise<void> {
    if (this.#turn && !this.#turn.hasEnded) {
      throw errors.TURN_IN_PROGRESS.working('The demo');
    }
    this.#turn = new DemoTurn({
      turnId,
      message,
      blocks,
      scene: chooseScene(message, this.#turns++),
      emit: (draft) => this.#output.emit(draft),
      speed: () => this.#speed * speedOf(this.#pace),
    });
  }

  async steer(
    message: string,
    { turnId, messageId }: SteerTarget,
    blocks: readonly ContentBlock[],
  ): Promise<void> {
    const turn = this.#turn;
    if (turn?.turnId !== turnId || turn.hasEnded) throw errors.NOTHING_TO_STEER.noTurn();
    turn.steer(messageId, message, blocks);
  }

  async cancel(): Promise<void> {
    this.#turn?.cancel('The user stopped the turn.');
  }

  async close(): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#turn?.cancel('The session was ended.');
    this.#output.exit({ expected: true });
  }

  async answerApproval(approvalId: string, answer: ApprovalAnswer): Promise<void> {
    if (!this.#turn) {
      throw errors.APPROVAL_NOT_FOUND.over();
    }
    this.#turn.answer(approvalId, answer);
  }

  async setConfigOption(id: string, value: string): Promise<void> {
    this.#pace = readPace(id, value);
    this.#output.update({ configOptions: [paceOption(this.#pace)] });
  }
}

type Pace = keyof typeof paces;

const speedOf = (pace: Pace): number => paces[pace].speed;

/** Returns the demo's only setting. */
function paceOption(currentValue: Pace): ConfigOption {
  return {
    id: 'pace',
    name: 'Speed',
    description: 'How fast the recordings play.',
    category: 'pace',
    currentValue,
    options: Object.entries(paces).map(([value, { name, description }]) => ({
      value,
      name,
      description,
    })),
  };
}

/** Throws ProviderError `INVALID_OPTION`. */
function readPace(id: string, value: string): Pace {
  if (id === 'pace' && isPace(value)) return value;
  const known = Object.keys(paces).join(', ');
  throw errors.INVALID_OPTION.demo(id, value, known);
}

const isPace = (value: string): value is Pace => Object.hasOwn(paces, value);
