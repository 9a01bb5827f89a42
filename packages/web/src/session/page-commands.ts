/** Slash commands of the agents' terminals that the page carries out itself: they are sent to no agent. */
import type { AgentCommand, AgentInfo, SetupKind } from '@liminal/protocol';

/** What a command shows. */
export type PageCommand = 'aside' | 'changes' | 'directories' | 'mcp' | 'status' | SetupKind;

interface Entry extends AgentCommand {
  shows: PageCommand;
  isHere: (agent: AgentInfo) => boolean;
  /** An agent's own command of this name comes first. */
  yields?: true;
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
  {
    name: 'diff',
    description: 'How the work tree differs from the last commit',
    shows: 'changes',
    isHere: () => true,
    yields: true,
  },
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

function entriesFor(agent: AgentInfo | undefined, commands: readonly AgentCommand[]): Entry[] {
  if (agent === undefined) return [];
  const own = new Set(commands.map(({ name }) => name));
  return entries.filter(
    ({ name, isHere, yields }) => isHere(agent) && !(yields === true && own.has(name)),
  );
}

/** The command that a message is, with its words. `commands` are the agent's own. */
export function pageCommandIn(
  message: string,
  agent: AgentInfo | undefined,
  commands: readonly AgentCommand[] = [],
): { shows: PageCommand; words: string } | undefined {
  const [, name, words = ''] = /^\/(\S+)(?:\s+([^]*))?$/.exec(message) ?? [];
  const found = entriesFor(agent, commands).find(
    (one) => one.name === name || one.aliases?.includes(name ?? '') === true,
  );
  return found && { shows: found.shows, words: words.trim() };
}

/** The agent's own commands, and those of the page. */
export function withPageCommands(
  commands: readonly AgentCommand[],
  agent: AgentInfo | undefined,
): AgentCommand[] {
  const own = entriesFor(agent, commands).map(({ name, description, hint, aliases }) => ({
    name,
    description,
    ...(hint !== undefined && { hint }),
    ...(aliases !== undefined && { aliases }),
  }));
  const names = new Set(own.map(({ name }) => name));
  return [...commands.filter(({ name }) => !names.has(name)), ...own];
}
