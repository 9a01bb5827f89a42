/** The keys of the agents' own terminals, and their counterparts in Liminal's page. */

export interface TerminalKey {
  keys: string;
  /** The key's effect, in the words of the help (`?`) that the terminal shows. */
  does: string;
  /** The equivalent in the page. */
  here: string;
  /** True if the terminal's help does not list the key. */
  unlisted?: true;
}

const settings = 'The settings beside the message.';
const none = 'Not available.';
const close = 'Close the window: the agent keeps working.';
const tasks = 'Tasks are listed above the message, to-do lists in the conversation.';
const whole = 'Open a call in the conversation.';

/** The keys of Claude Code 2.1.332. */
export const claudeKeys: readonly TerminalKey[] = [
  { keys: '!', does: 'for shell mode', here: 'The same, at the start of a message.' },
  { keys: '/', does: 'for commands', here: 'The same.' },
  { keys: '@', does: 'for file paths', here: 'The same.' },
  { keys: '/btw', does: 'for side question', here: 'The same.' },
  {
    keys: 'esc esc',
    does: 'to clear input',
    here: 'Select the text and delete it. To go back: *Edit and send again* at one of your messages, or *Fork from here*.',
  },
  { keys: 'shift+tab', does: 'to cycle modes', here: settings },
  { keys: 'ctrl+o', does: 'to see full transcript', here: whole },
  { keys: 'ctrl+t', does: 'to toggle tasks', here: tasks },
  { keys: 'backslash (\\) then enter', does: 'for newline', here: 'Shift+Enter.' },
  { keys: 'ctrl+shift+_', does: 'to undo', here: 'Ctrl+Z, as the browser has it.' },
  { keys: 'ctrl+z', does: 'to suspend', here: close },
  { keys: 'ctrl+v', does: 'to paste images', here: 'The same.' },
  { keys: 'alt+p', does: 'to switch model', here: settings },
  { keys: 'ctrl+s', does: 'to stash prompt', here: 'Each session keeps its own draft.' },
  { keys: 'ctrl+g', does: 'to edit in $EDITOR', here: none },
  { keys: '/keybindings', does: 'to customize', here: none },
  { keys: 'esc', does: 'to interrupt', here: 'The same, or *Stop*.', unlisted: true },
  { keys: 'ctrl+c', does: 'to interrupt, twice to exit', here: `Esc. ${close}`, unlisted: true },
  { keys: 'ctrl+d', does: 'to exit', here: close, unlisted: true },
  {
    keys: 'ctrl+b',
    does: 'to run in background',
    here: '*To background*, beside the running call. (Ctrl+B opens the sidebar.)',
    unlisted: true,
  },
  {
    keys: 'ctrl+r',
    does: 'to search history',
    here: 'Ctrl+K searches all sessions, Ctrl+F this one.',
    unlisted: true,
  },
  {
    keys: 'up',
    does: 'for earlier prompts',
    here: '↑ and ↓ step through your earlier messages.',
    unlisted: true,
  },
  { keys: 'alt+t', does: 'to toggle thinking', here: settings, unlisted: true },
  { keys: 'alt+o', does: 'to toggle fast mode', here: 'The setting *Speed*.', unlisted: true },
  { keys: '#', does: 'nothing: words for the model', here: 'The same.', unlisted: true },
  { keys: '?', does: 'for these keys', here: 'The same, outside a field.', unlisted: true },
];

/** Of Codex 0.171. */
export const codexKeys: readonly TerminalKey[] = [
  { keys: '/', does: 'Commands', here: 'The same.' },
  { keys: '@', does: 'Mention files', here: 'The same.' },
  { keys: '!', does: 'Shell command', here: 'The same.' },
  { keys: '^j', does: 'New line', here: 'Shift+Enter.' },
  { keys: '^v', does: 'Paste image', here: 'The same.' },
  { keys: '^g', does: 'External editor', here: none },
  { keys: '^r', does: 'Search history', here: 'Ctrl+K searches all sessions, Ctrl+F this one.' },
  {
    keys: 'esc esc',
    does: 'Edit last message',
    here: '*Edit and send again* at one of your messages, or *Fork from here*.',
  },
  { keys: 'tab', does: 'Send message', here: 'Enter.' },
  { keys: 'tab', does: 'Queue message', here: 'Enter, while the agent is busy.' },
  { keys: 'shift+tab', does: 'Change mode', here: settings },
  { keys: 'alt+,', does: 'Less reasoning', here: settings },
  { keys: 'alt+.', does: 'More reasoning', here: settings },
  { keys: 'f8', does: 'Voice', here: none },
  { keys: '←', does: 'Agents (empty prompt)', here: 'The list of sessions.' },
  { keys: 'alt+← / alt+→', does: 'Subagents (empty prompt)', here: whole },
  { keys: 'f4', does: 'Inspect activity', here: whole },
  { keys: '^c', does: 'Interrupt', here: 'Esc, or *Stop*.' },
  { keys: '^c', does: 'Quit', here: close },
  { keys: '^t', does: 'Open transcript', here: 'The conversation is the transcript.' },
  { keys: 'f3', does: 'Find text', here: 'Ctrl+F.' },
  { keys: 'pgup / pgdn', does: 'Scroll', here: 'The same, as the browser has it.' },
  { keys: '^space', does: 'Start selection', here: 'The mouse.' },
  { keys: '^home / ^end', does: 'Top / latest', here: 'Scroll.' },
  { keys: 'shift+alt+, / shift+alt+.', does: 'Top / latest', here: 'Scroll.' },
  { keys: '/keymap', does: 'customize', here: none },
  { keys: 'esc', does: 'Interrupt', here: 'The same, or *Stop*.', unlisted: true },
  {
    keys: 'enter',
    does: 'Send, while Codex is busy: steer',
    here: 'Ctrl+Enter steers.',
    unlisted: true,
  },
  { keys: '?', does: 'These keys', here: 'The same, outside of a field.', unlisted: true },
];
