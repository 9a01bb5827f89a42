import { setImmediate as soon } from 'node:timers/promises';
import { TurnWriter } from '../base/turn-writer.ts';
import type {
  AgentDriver,
  AgentSession,
  SessionOpening,
  SessionOutput,
} from '../contract/driver.ts';
import { errors } from '../contract/errors.ts';

const about = { cliType: 'echo', name: 'Echo' };

/** Returns an agent that repeats its message, word by word. */
export const makeEcho = (): AgentDriver => ({
  ...about,
  describe: async () => ({ ...about, description: 'Repeats your message.', available: true }),
  open: async ({ output }: SessionOpening) => new EchoSession(output),
});

class EchoSession implements AgentSession {
  isAlive = true;
  readonly #output: SessionOutput;
  #turn: TurnWriter | undefined;

  constructor(output: SessionOutput) {
    this.#output = output;
  }

  async send(message: string, turnId: string): Promise<void> {
    if (!this.isAlive) throw errors.PROCESS_CRASH.notRunning(about.name);
    if (this.#turn) throw errors.TURN_IN_PROGRESS.working(about.name);
    const turn = new TurnWriter(turnId, (draft) => this.#output.emit(draft));
    this.#turn = turn;
    turn.at(new Date().toISOString());
    turn.begin({ modelId: 'echo', providerId: 'echo', trigger: 'user' }, message);
    void this.#speak(turn, message);
  }

  async cancel(): Promise<void> {
    this.#turn?.stop();
    this.#end('cancelled');
  }

  async close(): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#end('cancelled');
    this.#output.exit({ expected: true });
  }

  async #speak(turn: TurnWriter, message: string): Promise<void> {
    const id = `${turn.turnId}:0`;
    turn.start({ type: 'message', id, content: '', origin: 'agent' });
    for (const word of message.match(/\s*\S+/g) ?? []) {
      await soon();
      if (this.#turn !== turn) return;
      turn.at(new Date().toISOString());
      turn.append(id, word);
    }
    this.#end('completed');
  }

  #end(status: 'completed' | 'cancelled'): void {
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.end({ type: 'response_done', status, finishReason: null });
  }
}
