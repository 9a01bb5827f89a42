import { notSentNotice } from '../../base/local-answer.ts';

/**
 * The slash commands that Codex (0.171) has only in its own terminal, because its server has no request for them, and
 * their counterparts in Liminal. Without this table the commands would reach the model as text.
 */

const inTerminal = 'Codex has this command only in its own terminal.';
const inList = 'Do this in the list of sessions.';
const inAside = 'Ask beside the conversation with /btw in the page, or with `liminal aside`.';
const inSetup = 'See “Status and setup” in the session’s menu, or run `liminal setup`.';
const inSettings = 'This is a setting of the session: choose it beside the message.';

/** Says where Liminal has the function of a command, in a sentence for the person who sent the command; by command. */
export const terminalCommands: Readonly<Record<string, string>> = {
  agent: inTerminal,
  agents: inTerminal,
  app: inTerminal,
  approvals: inSettings,
  'add-dir': 'Add a folder under “Folders” in the session’s menu, or with `liminal directories`.',
  approve: inTerminal,
  apps: inTerminal,
  archive: inList,
  btw: inAside,
  cd: 'A session stays in its folder: start another session in the other folder.',
  clear: 'Start a new session: it knows nothing of this conversation.',
  collab: inSettings,
  config: inTerminal,
  copy: 'Copy an answer with the button below it.',
  daemon: inTerminal,
  daybreak: inTerminal,
  'debug-config': inTerminal,
  delete: inList,
  diff: 'See “Changes” in the session’s menu, or run `liminal diff`.',
  exit: 'Close the window: the session stays, and the agent keeps working.',
  experimental: inTerminal,
  export: 'Export the session in its menu, or with `liminal export`.',
  fast: 'This is the setting “Speed” beside the message, where the model has several.',
  feedback: inTerminal,
  fork: 'Fork the session at one of its turns.',
  goal: inTerminal,
  hooks: inSetup,
  ide: inTerminal,
  import: inTerminal,
  keymap: inTerminal,
  logout: 'Sign out with `codex logout` in a terminal.',
  mcp: 'MCP servers are listed in the session’s menu, or by `liminal mcp`.',
  memories: inTerminal,
  mention: 'Write @ and the name of a file.',
  model: inSettings,
  new: 'Start a new session.',
  permissions: inSetup,
  personality: inTerminal,
  pet: inTerminal,
  pets: inTerminal,
  plugins: inTerminal,
  presets: inTerminal,
  prompts: inTerminal,
  ps: 'Background commands and subagents are listed above the message.',
  pwd: 'The header of the session shows the folder.',
  quit: 'Close the window: the session stays, and the agent keeps working.',
  raw: inTerminal,
  rc: inTerminal,
  recap: inTerminal,
  rename: inList,
  resume: 'Open the other session in the list of sessions.',
  rollout: inTerminal,
  'setup-default-sandbox': inTerminal,
  side: inAside,
  skills: inSetup,
  status: inSetup,
  statusline: inTerminal,
  stop: 'Stop background commands in the list above the message.',
  subagents: 'Running subagents are listed above the message.',
  theme: inTerminal,
  title: inTerminal,
  tui: inTerminal,
  undo: inTerminal,
  usage: 'The account’s limits are shown beside the session.',
  vim: inTerminal,
  voice: inTerminal,
  warnings: 'Warnings are shown above the message.',
  worktree: inTerminal,
};

/** Returns Liminal's answer to a command that Codex' server does not have. */
export function answerToCommand(name: string): string {
  const known = Object.hasOwn(terminalCommands, name) ? terminalCommands[name] : undefined;
  return notSentNotice(known ?? `Codex has no command /${name} here.`);
}
