/** Slash commands: the commands of Codex' own terminal that are requests to its server, and its skills. */
import { type AgentCommand, type ContentBlock, linkedMentions } from '@liminal/protocol';
import { z } from 'zod';
import { commandName } from '../../base/local-answer.ts';
import { userCommandIn } from '../../base/user-command.ts';
import { codexInput } from './prompt.ts';
import { answerToCommand } from './terminal-commands.ts';

const Skills = z.looseObject({
  data: z.array(
    z.looseObject({
      skills: z.array(
        z.looseObject({
          name: z.string(),
          description: z.string().catch(''),
          shortDescription: z.string().optional().catch(undefined),
          path: z.string().catch(''),
          enabled: z.boolean().catch(true),
        }),
      ),
    }),
  ),
});
export type Skill = z.infer<typeof Skills>['data'][number]['skills'][number];

/** Returns all skills of an answer to `skills/list`. */
export const listedSkills = (answer: unknown): Skill[] =>
  (Skills.safeParse(answer).data?.data ?? []).flatMap(({ skills }) => skills);

/** Returns the enabled skills of an answer to `skills/list`. */
export const readSkills = (answer: unknown): Skill[] =>
  listedSkills(answer).filter(({ enabled, path }) => enabled && path !== '');

export const builtIn: readonly AgentCommand[] = [
  { name: 'compact', description: 'Summarise the conversation to make room.' },
  {
    name: 'review',
    description: 'Review the uncommitted changes, or what you say.',
    hint: 'what to look at',
  },
  {
    name: 'review-branch',
    description: 'Review the changes since a branch.',
    hint: 'the branch',
  },
  { name: 'review-commit', description: 'Review a commit.', hint: 'its hash' },
  { name: 'init', description: 'Write an AGENTS.md for this project.' },
  { name: 'plan', description: 'Plan before anything is changed.', hint: 'what to plan' },
];

export const commandsWith = (skills: readonly Skill[]): AgentCommand[] => [
  ...builtIn,
  ...skills.map(({ name, description, shortDescription }) => ({
    name,
    description: shortDescription ?? description,
  })),
];

const initPrompt =
  'Write a file AGENTS.md in the root of this repository, for agents that work on it. Look around first. Say how the project is laid out, how it is built and tested, how its code is written, and what to mind in commits: short, and true to what is there. If there is such a file already, correct it.';

/** The request to Codex that a user's message causes: a turn or a command. */
export interface CodexRequest {
  method: 'turn/start' | 'thread/compact/start' | 'review/start' | 'thread/shellCommand';
  params: Record<string, unknown>;
}

/**
 * Returns Liminal's answer to a command that does not exist, or that only Codex' own terminal has; undefined for other
 * messages.
 */
export function answerFor(message: string, skills: readonly Skill[]): string | undefined {
  const name = commandName(message);
  const isOffered = (one: { name: string }): boolean => one.name === name;
  if (name === undefined || builtIn.some(isOffered) || skills.some(isOffered)) return undefined;
  return answerToCommand(name);
}

/** Returns the words after `/plan`; undefined if the message does not begin with `/plan`. */
export const wordsToPlan = (message: string): string | undefined =>
  /^\/plan(?:\s+([^]*))?$/.exec(message.trim()) === null
    ? undefined
    : message.trim().slice('/plan'.length).trim();

/** Reads a message as a command or as text for the model. A mention is not added if the text already contains it. */
export function requestFor(
  message: string,
  skills: readonly Skill[],
  projectDir: string,
  beside: readonly ContentBlock[] = [],
): CodexRequest {
  const command = beside.length === 0 ? userCommandIn(message) : undefined;
  if (command !== undefined) return { method: 'thread/shellCommand', params: { command } };
  const blocks = linkedMentions(message, beside, projectDir).others;
  const skill = skillIn(message, skills);
  if (skill !== undefined) return startTurn(skill.words, blocks, [skill.input]);
  // A message with attachments is not a command: Codex' commands accept only text.
  const asked = blocks.length === 0 ? commandIn(message) : undefined;
  return asked ?? startTurn(message, blocks);
}

const commandForm = /^\/([\w:-]+)(?:\s+([^]*))?$/;

function commandIn(message: string): CodexRequest | undefined {
  const [, name = '', rest = ''] = commandForm.exec(message.trim()) ?? [];
  const words = rest.trim();
  if (name === 'compact') return { method: 'thread/compact/start', params: {} };
  if (name === 'review') {
    return review(
      words === '' ? { type: 'uncommittedChanges' } : { type: 'custom', instructions: words },
    );
  }
  if (name === 'review-branch' && words !== '')
    return review({ type: 'baseBranch', branch: words });
  if (name === 'review-commit' && words !== '') {
    return review({ type: 'commit', sha: words, title: null });
  }
  return name === 'init' ? startTurn(initPrompt, []) : undefined;
}

/** Returns the skill that a message names; a built-in command of the same name takes precedence. */
function skillIn(message: string, skills: readonly Skill[]) {
  const [, name = '', rest = ''] = commandForm.exec(message.trim()) ?? [];
  if (builtIn.some((command) => command.name === name)) return undefined;
  const skill = skills.find((one) => one.name === name);
  if (skill === undefined) return undefined;
  const input = { type: 'skill', name, path: skill.path };
  return { words: `$${name} ${rest.trim()}`.trim(), input };
}

const review = (target: Record<string, unknown>): CodexRequest => ({
  method: 'review/start',
  params: { target, delivery: 'inline' },
});

const startTurn = (
  text: string,
  blocks: readonly ContentBlock[],
  more: readonly object[] = [],
): CodexRequest => ({
  method: 'turn/start',
  params: { input: [...codexInput(text, blocks), ...more] },
});

/** Returns the command that began a stored review. @param review - Codex' words for the subject of the review. */
export const reviewCommand = (review: string): string =>
  review === 'current changes' ? '/review' : `/review ${review}`;
