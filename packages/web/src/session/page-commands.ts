/** Slash commands of the agents' terminals that the page itself runs, without sending them to the agent. */
import type { AgentCommand, AgentInfo, SetupKind } from '@liminal/protocol';

const deeds = [
  'approvals',
  'archive',
  'close',
  'copy',
  'delete',
  'export',
  'fork',
  'keys',
  'model',
  'new',
  'plan',
  'rename',
  'resume',
  'rewind',
  'speed',
  'work',
] as const;

/** An action on the session, or the dialog for it. */
export type Deed = (typeof deeds)[number];

export const isDeed = (command: PageCommand): command is Deed =>
  (deeds as readonly PageCommand[]).includes(command);

/** The dialog or action of a command. */
export type PageCommand = 'aside' | 'changes' | 'directories' | 'mcp' | 'status' | SetupKind | Deed;

interface Entry extends AgentCommand {
  shows: PageCommand;
  isHere: (agent: AgentInfo) => boolean;
  /** Whether an agent's own command with this name takes precedence. */
  yields?: boolean;
}

/** The agent types whose terminals have these commands. */
const terminals: readonly string[] = ['claude-code', 'codex'];

const deed = (
  shows: Deed,
  description: string,
  more: Partial<Entry> & { cliType?: string } = {},
): Entry => {
  const { isHere = () => true, cliType, name = shows, ...rest } = more;
  const isOf = (agent: AgentInfo): boolean =>
    cliType === undefined ? terminals.includes(agent.cliType) : agent.cliType === cliType;
  return {
    name,
    description,
    shows,
    yields: true,
    ...rest,
    isHere: (agent) => isOf(agent) && isHere(agent),
  };
};

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
  deed('new', 'Start another session', { aliases: ['clear'] }),
  deed('resume', 'Find another session', { aliases: ['continue'] }),
  deed('rename', 'Give the session another title', { hint: 'title' }),
  deed('fork', 'Continue in a copy of the session', {
    aliases: ['branch'],
    isHere: ({ forks }) => forks === true,
  }),
  deed('rewind', 'Go back to before the last message', {
    aliases: ['checkpoint'],
    isHere: ({ rewindsConversation }) => rewindsConversation === true,
  }),
  deed('copy', 'Copy the last answer'),
  deed('export', 'Save the session as a file', { aliases: ['share'] }),
  deed('archive', 'Put the session away'),
  deed('delete', 'Delete the session'),
  deed('model', 'Choose the model', { hint: 'model' }),
  deed('speed', 'Choose the speed', { name: 'fast' }),
  deed('approvals', 'Choose what needs an approval', { cliType: 'codex' }),
  deed('work', 'Choose the mode', { name: 'collab', cliType: 'codex' }),
  deed('plan', 'Plan before anything is changed', { hint: 'what to plan', cliType: 'claude-code' }),
  deed('keys', 'The keys of this page', { name: 'help', aliases: ['keymap', 'keybindings'] }),
  deed('close', 'Close the tab; the agent keeps working', { name: 'exit', aliases: ['quit'] }),
];

const isNamed = ({ name, aliases = [] }: AgentCommand, text: string): boolean =>
  name === text || aliases.includes(text);

/** The page's commands, each with the names that the agent's own commands leave to it. */
function entriesFor(agent: AgentInfo | undefined, commands: readonly AgentCommand[]): Entry[] {
  const isTaken = (name: string): boolean => commands.some((one) => isNamed(one, name));
  const here = agent === undefined ? [] : entries.filter(({ isHere }) => isHere(agent));
  return here.flatMap((entry) => {
    if (entry.yields !== true) return [entry];
    const [name, ...aliases] = [entry.name, ...(entry.aliases ?? [])].filter(
      (one) => !isTaken(one),
    );
    return name === undefined ? [] : [{ ...entry, name, aliases }];
  });
}

/** The page command that a message consists of, with the words after it. `commands` are the agent's own. */
export function pageCommandIn(
  message: string,
  agent: AgentInfo | undefined,
  commands: readonly AgentCommand[],
): { shows: PageCommand; words: string } | undefined {
  const [, name = '', words = ''] = /^\/(\S+)(?:\s+([^]*))?$/.exec(message) ?? [];
  const found = entriesFor(agent, commands).find((one) => isNamed(one, name));
  return found && { shows: found.shows, words: words.trim() };
}

/** The agent's own commands and the page's. */
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
