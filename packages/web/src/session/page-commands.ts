/** Slash commands of the agents' terminals that the page runs itself. These commands are not sent to the agent. */
import type { AgentCommand, AgentInfo, SetupKind } from '@liminal/protocol';

const sessionCommands = [
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

/** The name of an action on the session, or of a dialog about the session. */
export type SessionCommand = (typeof sessionCommands)[number];

export const isSessionCommand = (command: PageCommand): command is SessionCommand =>
  (sessionCommands as readonly PageCommand[]).includes(command);

/** The dialog that a command opens, or the action that it runs. */
export type PageCommand =
  | 'aside'
  | 'changes'
  | 'directories'
  | 'mcp'
  | 'status'
  | SetupKind
  | SessionCommand;

interface PageCommandEntry extends AgentCommand {
  command: PageCommand;
  isAvailable: (agent: AgentInfo) => boolean;
  /** Whether a command of the agent with the same name is used instead. */
  isOverridable?: boolean;
}

/** The agent types whose terminals offer these commands. */
const terminals: readonly string[] = ['claude-code', 'codex'];

const sessionCommand = (
  command: SessionCommand,
  description: string,
  more: Partial<PageCommandEntry> & { cliType?: string } = {},
): PageCommandEntry => {
  const { isAvailable = () => true, cliType, name = command, ...rest } = more;
  const isOf = (agent: AgentInfo): boolean =>
    cliType === undefined ? terminals.includes(agent.cliType) : agent.cliType === cliType;
  return {
    name,
    description,
    command,
    isOverridable: true,
    ...rest,
    isAvailable: (agent) => isOf(agent) && isAvailable(agent),
  };
};

const setupCommand = (
  command: 'status' | SetupKind,
  description: string,
  ...[name = command, ...aliases]: string[]
): PageCommandEntry => ({
  name,
  description,
  aliases,
  command,
  isAvailable: ({ tellsSetup }) => tellsSetup === true,
});

const entries: PageCommandEntry[] = [
  {
    name: 'diff',
    description: 'How the work tree differs from the last commit',
    command: 'changes',
    isAvailable: () => true,
    isOverridable: true,
  },
  setupCommand('status', 'Version, account, folders, servers and limits'),
  setupCommand('permissions', 'Permission rules', 'permissions', 'allowed-tools'),
  setupCommand('hooks', 'Hooks'),
  setupCommand('skills', 'Skills'),
  setupCommand('plugins', 'Plugins', 'plugin', 'plugins'),
  setupCommand('memory', 'Memory files: CLAUDE.md, AGENTS.md'),
  {
    name: 'btw',
    aliases: ['side'],
    description: 'Ask beside the conversation, which does not get the answer',
    hint: 'question',
    command: 'aside',
    isAvailable: ({ answersAside }) => answersAside === true,
  },
  {
    name: 'add-dir',
    description: 'Let the agent work in another folder, too',
    hint: 'folder',
    command: 'directories',
    isAvailable: ({ takesDirectories }) => takesDirectories === true,
  },
  {
    name: 'mcp',
    description: 'MCP servers',
    command: 'mcp',
    isAvailable: ({ managesMcp }) => managesMcp === true,
  },
  sessionCommand('new', 'Start another session', { aliases: ['clear'] }),
  sessionCommand('resume', 'Find another session', { aliases: ['continue'] }),
  sessionCommand('rename', 'Give the session another title', { hint: 'title' }),
  sessionCommand('fork', 'Continue in a copy of the session', {
    aliases: ['branch'],
    isAvailable: ({ forks }) => forks === true,
  }),
  sessionCommand('rewind', 'Go back to before the last message', {
    aliases: ['checkpoint'],
    isAvailable: ({ rewindsConversation }) => rewindsConversation === true,
  }),
  sessionCommand('copy', 'Copy the last answer'),
  sessionCommand('export', 'Save the session as a file', { aliases: ['share'] }),
  sessionCommand('archive', 'Put the session away'),
  sessionCommand('delete', 'Delete the session'),
  sessionCommand('model', 'Choose the model', { hint: 'model' }),
  sessionCommand('speed', 'Choose the speed', { name: 'fast' }),
  sessionCommand('approvals', 'Choose what needs an approval', { cliType: 'codex' }),
  sessionCommand('work', 'Choose the mode', { name: 'collab', cliType: 'codex' }),
  sessionCommand('plan', 'Plan before anything is changed', {
    hint: 'what to plan',
    cliType: 'claude-code',
  }),
  sessionCommand('keys', 'The keys of this page', {
    name: 'help',
    aliases: ['keymap', 'keybindings'],
  }),
  sessionCommand('close', 'Close the tab; the agent keeps working', {
    name: 'exit',
    aliases: ['quit'],
  }),
];

const isNamed = ({ name, aliases = [] }: AgentCommand, text: string): boolean =>
  name === text || aliases.includes(text);

/** Returns the page's commands, each with those of its names that no command of the agent has. */
function entriesFor(
  agent: AgentInfo | undefined,
  commands: readonly AgentCommand[],
): PageCommandEntry[] {
  const isTaken = (name: string): boolean => commands.some((one) => isNamed(one, name));
  const here = agent === undefined ? [] : entries.filter(({ isAvailable }) => isAvailable(agent));
  return here.flatMap((entry) => {
    if (entry.isOverridable !== true) return [entry];
    const [name, ...aliases] = [entry.name, ...(entry.aliases ?? [])].filter(
      (one) => !isTaken(one),
    );
    return name === undefined ? [] : [{ ...entry, name, aliases }];
  });
}

/**
 * Returns the page command of which a message consists, with the words after the command. `commands` are the agent's
 * own commands.
 */
export function pageCommandIn(
  message: string,
  agent: AgentInfo | undefined,
  commands: readonly AgentCommand[],
): { command: PageCommand; words: string } | undefined {
  const [, name = '', words = ''] = /^\/(\S+)(?:\s+([^]*))?$/.exec(message) ?? [];
  const found = entriesFor(agent, commands).find((one) => isNamed(one, name));
  return found && { command: found.command, words: words.trim() };
}

/** Returns the agent's own commands and the page's commands. */
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
