import { setImmediate as others } from 'node:timers/promises';
import type { AgentDriver, AgentSession, SessionOpening } from '@liminal/agents';
import type { ApprovalAnswer, ContentBlock, EventPayload, Form } from '@liminal/protocol';

/** One step of a script: an event, or a question. A question must be answered before the next step. */
export type Step = EventPayload | { ask: Question };

export interface Question {
  itemId: string;
  title: string;
  callId?: string;
  description?: string;
  form?: Form;
}

const options = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const },
  { optionId: 'no', name: 'No', kind: 'reject_once' as const },
];

export interface Script {
  steps: readonly Step[];
  /**
   * Whether the agent waits after each step until the step was logged and sent. Otherwise most steps are sent together.
   */
  isSlow: boolean;
}

/** An agent that plays a script in each turn. The script was registered for the text of the turn's message. */
export class ActingProvider implements AgentDriver {
  readonly cliType = 'actor';
  readonly name = 'Actor';
  readonly scripts = new Map<string, Script>();
  /** For each message, the turn that the message started. */
  readonly turns = new Map<string, string>();

  async describe() {
    const { cliType, name } = this;
    return { cliType, name, description: 'Acts a script.', available: true };
  }

  async open({ output }: SessionOpening): Promise<AgentSession> {
    const answers = new Map<string, PromiseWithResolvers<ApprovalAnswer>>();
    const act = async (message: string, turnId: string, blocks: readonly ContentBlock[]) => {
      const say = (payload: EventPayload) =>
        output.emit({ turnId, timestamp: new Date().toISOString(), payload });
      say({ type: 'response_start', modelId: 'model', providerId: 'actor', trigger: 'user' });
      const user = { type: 'message', id: 'user', content: message, origin: 'user' } as const;
      say({ type: 'item_done', itemId: user.id, finalItem: { ...user, blocks: [...blocks] } });
      const { steps = [], isSlow = false } = this.scripts.get(message) ?? {};
      for (const step of steps) {
        for (let round = 0; isSlow && round < 3; round += 1) await others();
        if (!('ask' in step)) {
          say(step);
          continue;
        }
        const { itemId, ...asked } = step.ask;
        const approvalId = `${turnId}:${itemId}`;
        const answered = Promise.withResolvers<ApprovalAnswer>();
        answers.set(approvalId, answered);
        const question = { ...asked, approvalId, options };
        say({ type: 'item_start', itemId, itemType: 'approval', ...question });
        const { optionId, content } = await answered.promise;
        const outcome = { outcome: 'selected', optionId, ...(content && { content }) } as const;
        const finalItem = { id: itemId, type: 'approval', ...question, outcome } as const;
        say({ type: 'item_done', itemId, finalItem });
      }
    };
    return {
      isAlive: true,
      accepts: { image: ['image/*'], audio: ['audio/*'], resource: ['text/*'] },
      send: async (message, turnId, blocks) => {
        this.turns.set(message, turnId);
        void act(message, turnId, blocks);
      },
      cancel: async () => undefined,
      close: async () => output.exit({ expected: true }),
      answerApproval: async (approvalId, answer) => answers.get(approvalId)?.resolve(answer),
    };
  }
}
