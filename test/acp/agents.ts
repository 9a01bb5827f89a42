/**
 * Runs the same story with real clients and each agent. All agents share one stage, and the model behind each agent is
 * scripted.
 */
import {
  answer,
  execCommand,
  functionCall,
  gate,
  message,
  reply,
  text,
  toolUse,
} from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { useStage } from '../e2e/stage.ts';

export const stage = useStage({
  codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
  hasOpenAi: true,
  config: { models: { openai: { type: 'openai', model: 'gpt-scripted' } } },
});

export interface Story {
  agent: string;
  /** Writes a script for the next turn: the model begins to talk and never ends. */
  endless: () => { prompt: string; begins: string };
  /**
   * Writes a script for the next turn: the model asks before it uses a tool whose title contains `tool`, and then
   * talks.
   */
  asking: () => { prompt: string; tool: string; says: RegExp };
  /** New values for settings. They differ from the initial values, and the agent still asks for permission. */
  settings: Record<string, string>;
}

const begins = 'I have begun';
const settled = 'That is settled.';
/** Matches the text of the model, and no other text. */
const says = /^That is settled\.$/;
const make = 'echo fresh > new.txt';
const endlessly = () => [begins, gate(), ' and ended.'];

const stories: readonly Story[] = [
  {
    agent: 'demo',
    endless: () => ({ prompt: 'slow', begins: 'Demo, ' }),
    asking: () => ({ prompt: 'approve', tool: 'npm run migrate', says: /You allowed it/ }),
    settings: { pace: 'instant' },
  },
  {
    agent: 'claude-code',
    endless: () => {
      stage.api.play([reply(text(endlessly()))]);
      return { prompt: 'Go on.', begins };
    },
    asking: () => {
      const input = { command: `sh -c '${make}'`, description: 'Makes it.' };
      stage.api.play([reply(toolUse('Bash', input)), reply(settled)]);
      // The expected text is a pattern, because Claude Code's text also reports which model was set.
      return { prompt: 'Make it.', tool: make, says: /That is settled\./ };
    },
    settings: { mode: 'acceptEdits', model: 'haiku' },
  },
  {
    agent: 'codex',
    endless: () => {
      stage.codexApi.play([answer(message(endlessly()))]);
      return { prompt: 'Go on.', begins };
    },
    asking: () => {
      const call = execCommand(make, { escalate: 'It must be made.' });
      stage.codexApi.play([answer(call), answer(settled)]);
      return { prompt: 'Make it.', tool: make, says };
    },
    settings: { mode: 'auto', model: 'scripted-mini' },
  },
  {
    agent: 'openai',
    endless: () => {
      stage.openAiApi.play([answer(message(endlessly()))]);
      return { prompt: 'Go on.', begins };
    },
    asking: () => {
      stage.openAiApi.play([answer(functionCall('bash', { command: make })), answer(settled)]);
      return { prompt: 'Make it.', tool: make, says };
    },
    settings: { mode: 'edits', model: 'openai:scripted-model-mini' },
  },
];

/**
 * Returns the stories of all agents in long runs, and the stories of the given agents in short runs: a client that
 * works with one agent should also work with all others.
 */
export const storiesOf = (...agents: string[]): readonly Story[] =>
  stories.filter(({ agent }) => atLength || agents.includes(agent));
