import type { AgentInfo } from '@liminal/protocol';
import type { AgentDriver, AgentSession, SessionOpening, SessionOutput } from '@liminal/agents';
import { DriverProvider } from '@liminal/agents';
import { ClaudeTranslator } from '../../packages/agents/src/claude-code/translate/translator.ts';
import { isoNow } from '../../packages/agents/src/base/iso-clock.ts';
import { readSource } from './read-source.ts';

/** An agent whose process is the source: a message `COUNT RATE BLOCKS` says what it plays, through Claude Code’s translator. */
export class SourceAgent extends DriverProvider {
  constructor() {
    super(new SourceDriver());
  }
}

class SourceDriver implements AgentDriver {
  readonly cliType = 'source';
  readonly name = 'Source';

  async open({ output }: SessionOpening): Promise<AgentSession> {
    return new SourceSession(output);
  }

  async describe(): Promise<AgentInfo> {
    return { cliType: 'source', name: 'Source', description: 'Plays deltas.', available: true };
  }
}

class SourceSession implements AgentSession {
  isAlive = true;
  readonly #output: SessionOutput;

  constructor(output: SessionOutput) {
    this.#output = output;
  }

  async send(message: string, turnId: string): Promise<void> {
    const [count = 0, rate = 0, blocks = 1] = message.split(' ').map(Number);
    const begun = Promise.withResolvers<void>();
    const translator = new ClaudeTranslator({
      cwd: '/',
      createTurnId: () => turnId,
      emit: (draft) => {
        this.#output.emit(draft);
        if (draft.payload.type === 'response_start') begun.resolve();
      },
    });
    void readSource({ count, rate, blocks }, (native) => translator.read(native, isoNow()));
    await begun.promise;
  }

  async cancel(): Promise<void> {}

  async close(): Promise<void> {
    this.isAlive = false;
  }
}
