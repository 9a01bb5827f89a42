import type { ShownCall, ToolCallUpsert } from '@liminal/protocol';
import { count } from '../words/amounts.ts';
import { shortPath } from '../words/paths.ts';

/** The texts that show a tool call in one line: its kind, its subject, and its outcome. */
export interface ToolWords {
  verb: string;
  subject: string;
}

const verbs: Record<NonNullable<ToolCallUpsert['kind']>, string> = {
  read: 'Read',
  edit: 'Edit',
  delete: 'Delete',
  move: 'Move',
  search: 'Search',
  execute: 'Run',
  think: 'Think',
  fetch: 'Fetch',
  switch_mode: '',
  other: '',
};

/** The arguments that can be a call's subject, the most specific first. */
const subjectArguments = [
  'command',
  'file_path',
  'path',
  'notebook_path',
  'pattern',
  'query',
  'url',
  'description',
  'subject',
  'prompt',
  'skill',
  'name',
];

/** The arguments that can be a search's subject: what is searched for, not where. */
const sought = ['pattern', 'query'];

export function toolWords(call: ShownCall, folder?: string): ToolWords {
  if (isSubagent(call)) return { verb: 'Subagent', subject: oneLine(subagentTask(call)) };
  const code = codeOf(call);
  if (code !== undefined) return { verb: 'Script', subject: oneLine(firstLine(code)) };
  const verb = searchesWeb(call)
    ? 'Search'
    : (call.kind && verbs[call.kind]) || toolDisplayName(call);
  return { verb, subject: oneLine(subjectOf(call, verb, folder)) };
}

/** Whether a call searches the web, or searches in a page. A call that fetches a page does not. */
function searchesWeb({ kind, toolName, toolArguments }: ShownCall): boolean {
  const { pattern, query, url } = toolArguments;
  if (kind !== 'fetch') return false;
  return (
    isNonBlank(pattern) || (!isNonBlank(url) && (isNonBlank(query) || toolName === 'web_search'))
  );
}

/**
 * Returns the command that a call runs; undefined if the call contains none. Some agents pass the command as a list of
 * words.
 */
export function commandOf(call: ShownCall): string | undefined {
  const { kind, toolArguments } = call;
  const { command } = toolArguments;
  if (kind !== 'execute') return undefined;
  if (isNonBlank(command)) return command;
  if (!Array.isArray(command) || command.length === 0) return undefined;
  return scriptIn(command) ?? command.map((word) => quoted(wordOf(word))).join(' ');
}

/** Returns the values of the arguments that `commandOf` shows, and, for a list, its words. */
export function commandWords(call: ShownCall): unknown[] {
  const { command } = call.toolArguments;
  if (commandOf(call) === undefined) return [];
  if (!Array.isArray(command)) return [command];
  const script = scriptIn(command);
  return script === undefined ? command : [script];
}

/** Returns the script in a list of words that runs a shell. */
function scriptIn(words: readonly unknown[]): string | undefined {
  const [shell, flag, script] = words.map(wordOf);
  const isShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(shell ?? '') && /^-\w*c$/.test(flag ?? '');
  return isShell ? script : undefined;
}

const wordOf = (word: unknown): string => (typeof word === 'string' ? word : JSON.stringify(word));

/** Returns the JavaScript of a call that runs a script; undefined for other calls. */
export function codeOf({ toolName, toolArguments }: ShownCall): string | undefined {
  const { code } = toolArguments;
  return (toolName === 'run_script' || toolName === 'script') && isNonBlank(code)
    ? code
    : undefined;
}

const firstLine = (text: string): string => text.trimStart().split('\n', 1)[0] ?? '';

/** Quotes a word in the way in which a person would type it in a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Whether the call starts a subagent. */
export function isSubagent(call: ShownCall): boolean {
  return (
    call.toolName === 'Task' || call.toolName === 'Agent' || 'subagent_type' in call.toolArguments
  );
}

/** Whether the call asks people a question, and does not ask for a permission. */
export function isQuestion(call: ShownCall): boolean {
  return call.toolName === 'AskUserQuestion';
}

function subagentTask({ toolArguments, title }: ShownCall): string {
  const { description, prompt } = toolArguments;
  return [description, title, prompt].find((text) => isNonBlank(text)) ?? '';
}

/** Returns the arguments that the subject does not show. */
export function otherArguments(call: ToolCallUpsert, folder?: string): [string, unknown][] {
  const { subject } = toolWords(call, folder);
  const isSubject = (value: unknown) =>
    typeof value === 'string' && (oneLine(value) === subject || value.endsWith(`/${subject}`));
  const isUsual = ([name, value]: [string, unknown]) =>
    isSubagent(call) && name === 'run_in_background' && value === false;
  return Object.entries(call.toolArguments).filter(
    (argument) => !isSubject(argument[1]) && !isUsual(argument),
  );
}

/** Returns the name of a tool of unknown kind: the title if there is one, since the title is more specific. */
function toolDisplayName({ title, toolName }: ShownCall): string {
  return toolName.startsWith('mcp__') ? toolLabel(toolName) : (title ?? toolName);
}

/** Converts `mcp__github__create_issue` to `github: create issue`. */
function toolLabel(name: string): string {
  const mcp = /^mcp__(.(?:(?!__).)*)__(.+)$/.exec(name);
  return mcp ? `${mcp[1]}: ${mcp[2]?.replaceAll('_', ' ')}` : name;
}

function subjectOf(call: ShownCall, verb: string, folder: string | undefined): string {
  const [location] = call.locations ?? [];
  const wantsPath = call.kind === 'read' || call.kind === 'edit' || call.kind === 'delete';
  if (wantsPath && location !== undefined) {
    return shortPath(location.path, folder) + (location.line ? `:${location.line}` : '');
  }
  const command = commandOf(call);
  if (command !== undefined) return command;
  const first = call.kind === 'search' ? sought : [];
  const named = [...first, ...subjectArguments]
    .map((key) => call.toolArguments[key])
    .find((value) => isNonBlank(value));
  if (named !== undefined) return isPath(named) ? shortPath(named, folder) : named;
  // The location of a command is only a folder, so its title is better.
  const isTitled =
    call.kind === 'execute' && isNonBlank(call.title) && call.title !== call.toolName;
  if (location !== undefined && !isTitled) return shortPath(location.path, folder);
  return call.title === undefined ? '' : withoutVerb(call.title, verb);
}

/** Removes the verb from a title that begins with it. */
function withoutVerb(title: string, verb: string): string {
  if (title === verb) return '';
  return title.toLowerCase().startsWith(`${verb.toLowerCase()} `)
    ? title.slice(verb.length + 1)
    : title;
}

function isNonBlank(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isPath(value: string): boolean {
  return /^\/[^\s]+$/.test(value);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the text for a call that was not made, with the reason: `Not run: stopped`. */
export function notMadeReason(call: ToolCallUpsert, why: string): string {
  const what = isEdit(call) ? 'Not made' : call.kind === 'execute' ? 'Not run' : 'Not done';
  return `${what}: ${why}`;
}

/** Returns one line for calls that were not made: `30 edits skipped`. */
export function notMadeWords(calls: readonly ToolCallUpsert[]): string {
  const { length } = calls;
  if (calls.every((call) => isEdit(call))) return `${count(length, 'edit')} skipped`;
  if (calls.every((call) => call.kind === 'execute')) return `${count(length, 'command')} not run`;
  return `${count(length, 'step')} not done`;
}

function isEdit({ kind }: ToolCallUpsert): boolean {
  return kind === 'edit' || kind === 'delete' || kind === 'move';
}

/** Returns the key by which the files of calls are counted. A call without a file counts as one file. */
function fileKey(call: ToolCallUpsert): unknown {
  const { locations, toolArguments } = call;
  const { file_path: filePath, path } = toolArguments;
  const named = [locations?.[0]?.path, filePath, path].find((name) => isNonBlank(name));
  return named ?? call;
}

/** Returns one line for a run of reads: `Read 3 files`, `Searched 2 times`, `Read 3 files, 1 search`. */
export function readRunWords(calls: readonly ToolCallUpsert[]): string {
  const searches = calls.filter((call) => call.kind === 'search').length;
  const reads = new Set(calls.filter(({ kind }) => kind !== 'search').map(fileKey)).size;
  const running = calls.some((call) => call.status === 'create' || call.status === 'update');
  if (reads === 0) return `${running ? 'Searching' : 'Searched'} ${count(searches, 'time')}`;
  const read = `${running ? 'Reading' : 'Read'} ${count(reads, 'file')}`;
  return searches === 0 ? read : `${read}, ${count(searches, 'search', 'searches')}`;
}
