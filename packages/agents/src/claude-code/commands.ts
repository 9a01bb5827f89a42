/** The slash commands of Claude Code: which are offered, and which words are none. */
import { stat } from 'node:fs/promises';
import type { SlashCommand } from '@anthropic-ai/claude-agent-sdk';
import type { AgentCommand } from '@liminal/protocol';
import { answeredHere, commandName } from '../base/answered-here.ts';
import { terminalCommands } from './terminal-commands.ts';

/** Also from messages, whose optional fields may be undefined. */
type CommandLike = Pick<SlashCommand, 'name' | 'description'> & {
  argumentHint?: string | undefined;
  aliases?: string[] | undefined;
};

/** Commands that Claude Code lists and that are of no use outside its terminal, or of use only to its makers. */
export const useless: ReadonlySet<string> = new Set([
  'color',
  'fast',
  'focus',
  'heapdump',
  'workflow-launch-exec',
]);

/** The commands that people are offered. */
export const offeredCommands = (commands: readonly CommandLike[]): AgentCommand[] =>
  commands
    .filter(({ name }) => !name.startsWith('__') && !useless.has(name))
    .map(({ name, description, argumentHint, aliases = [] }) => ({
      name,
      description,
      ...(argumentHint !== undefined && argumentHint !== '' && { hint: argumentHint }),
      ...(aliases.length > 0 && { aliases }),
    }));

/**
 * The answer to a message that begins with a command which only the terminal has, or which does not exist: Claude Code
 * would give the latter to the model as words. Undefined for messages that Claude Code must get.
 *
 * @param commands - All that Claude Code has listed; empty if it has listed none.
 */
export async function answerFor(
  message: string,
  commands: readonly CommandLike[],
): Promise<string | undefined> {
  const name = commandName(message);
  if (name === undefined || name.includes('.') || commands.length === 0) return undefined;
  const isListed = commands.some(
    (one) =>
      one.name === name || one.aliases?.includes(name) === true || one.name.startsWith(`${name}:`),
  );
  const place = Object.hasOwn(terminalCommands, name) ? terminalCommands[name] : undefined;
  // A skill of the user's may have the name of a command of the terminal.
  if (place !== undefined && (!isListed || useless.has(name))) return answeredHere(place);
  // The prompts of an MCP server are listed only once the server has started.
  if (isListed || name.startsWith('mcp__')) return undefined;
  const isPath = await stat(`/${name}`).then(
    () => true,
    () => false,
  );
  if (isPath) return undefined;
  return answeredHere(`Claude Code has no command /${name}.`);
}
