/** Claude Code's slash commands: which are offered to people, and which Liminal answers itself. */
import { stat } from 'node:fs/promises';
import type { SlashCommand } from '@anthropic-ai/claude-agent-sdk';
import type { AgentCommand } from '@liminal/protocol';
import { notSentNotice, commandName } from '../../base/local-answer.ts';
import { terminalCommands } from './terminal-commands.ts';

/** A command from the SDK or from a message. The optional fields may be undefined. */
type CommandLike = Pick<SlashCommand, 'name' | 'description'> & {
  argumentHint?: string | undefined;
  aliases?: string[] | undefined;
};

/**
 * Commands that Claude Code lists, but that are useless outside its terminal or useful only to Claude Code's
 * developers.
 */
export const useless: ReadonlySet<string> = new Set([
  'color',
  'fast',
  'focus',
  'heapdump',
  'workflow-launch-exec',
]);

/** Returns the commands that are offered to people. */
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
 * Returns Liminal's answer to a message that begins with a command that does not exist, or exists only in the terminal.
 * Claude Code would send an unknown command to the model as text. Returns undefined for all other messages, which must
 * be sent to Claude Code.
 *
 * @param commands - All commands that Claude Code has listed.
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
  // A user's skill may have the name of a terminal command.
  if (place !== undefined && (!isListed || useless.has(name))) return notSentNotice(place);
  // Send a command of an MCP server even if the command is not listed: Claude Code lists a server's prompts only once
  // the server has started.
  if (isListed || name.startsWith('mcp__')) return undefined;
  const isPath = await stat(`/${name}`).then(
    () => true,
    () => false,
  );
  if (isPath) return undefined;
  return notSentNotice(`Claude Code has no command /${name}.`);
}
