/** The slash commands of Claude Code: which are offered, and which words are none. */
import { stat } from 'node:fs/promises';
import type { SlashCommand } from '@anthropic-ai/claude-agent-sdk';
import type { AgentCommand } from '@liminal/protocol';
import { commandName } from '../base/answered-here.ts';

/** Also from messages, whose optional fields may be undefined. */
type CommandLike = Pick<SlashCommand, 'name' | 'description'> & {
  argumentHint?: string | undefined;
  aliases?: string[] | undefined;
};

/** Commands that Claude Code lists and that are of no use outside its terminal, or of use only to its makers. */
const useless: ReadonlySet<string> = new Set([
  'color',
  'fast',
  'focus',
  'heapdump',
  'workflow-launch-exec',
]);

/**
 * Commands of its own terminal (2.1.330) that Claude Code does not list. It answers them itself: that they are not
 * available.
 */
const inTerminal: ReadonlySet<string> = new Set(
  `access add-dir advisor allowed-tools android app artifacts background bashes branch brief btw bug cd checkpoint
  cloud-plugins continue copy design-consent design-login design-revoke desktop diff exit export extra-usage feedback
  fork help hooks ide import install-github-app install-slack-app ios keybindings login logout memory mobile passes
  pause-memory permissions plan plugin powerup privacy-settings pro-trial-expired project quit radio rate-limit-options
  rc release-notes remote-control remote-env resume rewind scroll-speed session setup-bedrock setup-vertex share skills
  status statusline stickers subtask tasks teleport terminal-setup theme tui ultraplan ultrareview undo upgrade
  usage-credits use-case vim voice web-setup wellbeing workflows`.split(/\s+/),
);

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
 * The answer to a message that begins with a command which does not exist: Claude Code would give it to the model as
 * words. Undefined for messages that Claude Code must get.
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
  // The prompts of an MCP server are listed only once the server has started.
  if (isListed || inTerminal.has(name) || name.startsWith('mcp__')) return undefined;
  const isPath = await stat(`/${name}`).then(
    () => true,
    () => false,
  );
  if (isPath) return undefined;
  return `Claude Code has no command /${name}. Nothing was sent. To send the words as they are, put a blank before them.`;
}
