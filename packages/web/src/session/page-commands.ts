/** Slash commands of the agents' terminals that the page carries out itself: they are sent to no agent. */
import type { AgentCommand, AgentInfo, SetupKind } from '@liminal/protocol';

/** What a command shows. */
export type PageCommand = 'aside' | 'directories' | 'mcp' | 'status' | SetupKind;

interface Entry extends AgentCommand {
  shows: PageCommand;
  isHere: (agent: AgentInfo) => boolean;
}

const ofSetup = (
  shows: 'status' | SetupKind,
  description: string,
  ...[name = shows, ...aliases]: string[]
): Entry => ({
  name,
  description,
  aliases,
  shows,
  isHere: ({ tellsSetup }) => tellsSetup === true,
});

const entries: Entry[] = [
  ofSetup('status', 'Version, account, folders, servers and limits'),
  ofSetup('permissions', 'Permission rules', 'permissions', 'allowed-tools'),
  ofSetup('hooks', 'Hooks'),
  ofSetup('skills', 'Skills'),
  ofSetup('plugins', 'Plugins', 'plugin', 'plugins'),
  ofSetup('memory', 'Memory files: CLAUDE.md, AGENTS.md'),
  {
    name: 'btw',
    aliases: ['side'],
    description: 'Ask beside the conversation, which does not get the answer',
    hint: 'question',
    shows: 'aside',
    isHere: ({ answersAside }) => answersAside === true,
  },
  {
    name: 'add-dir',
    description: 'Let the agent work in another folder, too',
    hint: 'folder',
    shows: 'directories',
    isHere: ({ takesDirectories }) => takesDirectories === true,
  },
  {
    name: 'mcp',
    description: 'MCP servers',
    shows: 'mcp',
    isHere: ({ managesMcp }) => managesMcp === true,
  },
];

const entriesFor = (agent: AgentInfo | undefined): Entry[] =>
  agent === undefined ? [] : entries.filter(({ isHere }) => isHere(agent));

/** The command that a message is, with its words. */
export function pageCommandIn(
  message: string,
  agent: AgentInfo | undefined,
): { shows: PageCommand; words: string } | undefined {
  const [, name, words = ''] = /^\/(\S+)(?:\s+([^]*))?$/.exec(message) ?? [];
  const found = entriesFor(agent).find(
    (one) => one.name === name || one.aliases?.includes(name ?? '') === true,
  );
  return found && { shows: found.shows, words: words.trim() };
}

/** The agent's own commands, and those of the page. */
export function withPageCommands(
  commands: readonly AgentCommand[],
  agent: AgentInfo | undefined,
): AgentCommand[] {
  const own = entriesFor(agent).map(({ name, description, hint, aliases }) => ({
    name,
    description,
    ...(hint !== undefined && { hint }),
    ...(aliases !== undefined && { aliases }),
  }));
  const names = new Set(own.map(({ name }) => name));
  return [...commands.filter(({ name }) => !names.has(name)), ...own];
}
