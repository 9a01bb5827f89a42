/** Descriptions of Claude Code's tools for people and ACP: kind, title, locations and changes, by the tool's name. */
import type { FileDiff, ToolKind, ToolLocation } from '@liminal/protocol';
import { oneLine, shortPath } from '../../../base/titles.ts';

export interface ToolDescription {
  kind: ToolKind;
  /** A short sentence with the action and its object. */
  title: string;
  locations?: ToolLocation[];
  diffs?: FileDiff[];
}

type ToolInput = Record<string, unknown>;

interface ToolDescriber {
  kind: ToolKind;
  /** The beginning of the title, and the whole title until the arguments are known. */
  verb: string;
  /** Returns the rest of the title, from the arguments. */
  subject?: (input: ToolInput, cwd: string) => string | undefined;
  locations?: (input: ToolInput) => ToolLocation[];
  diffs?: (input: ToolInput) => FileDiff[];
}

const stringField = (input: ToolInput, key: string): string | undefined => {
  const value = input[key];
  return typeof value === 'string' ? value : undefined;
};

const numberField = (input: ToolInput, key: string): number | undefined => {
  const value = input[key];
  return typeof value === 'number' ? value : undefined;
};

const subject =
  (key: string) =>
  (input: ToolInput): string | undefined => {
    const value = stringField(input, key);
    return value === undefined ? undefined : oneLine(value);
  };

const path =
  (key: string) =>
  (input: ToolInput, cwd: string): string | undefined => {
    const value = stringField(input, key);
    return value === undefined ? undefined : shortPath(value, cwd);
  };

const at =
  (key: string, lineKey?: string) =>
  (input: ToolInput): ToolLocation[] => {
    const value = stringField(input, key);
    const line = lineKey === undefined ? undefined : numberField(input, lineKey);
    if (value === undefined) return [];
    // Check the line: models may pass any number.
    return [Number.isSafeInteger(line) ? { path: value, line } : { path: value }];
  };

const quoted = (key: string, input: ToolInput): string | undefined => {
  const value = stringField(input, key);
  return value === undefined ? undefined : `“${oneLine(value)}”`;
};

const searched =
  (key: string) =>
  (input: ToolInput, cwd: string): string | undefined => {
    const folder = path('path')(input, cwd);
    const pattern = quoted(key, input);
    const isAll = folder === undefined || folder === cwd;
    return pattern === undefined || isAll ? pattern : `${pattern} in ${folder}`;
  };

const readRange = (input: ToolInput, cwd: string): string | undefined => {
  const file = path('file_path')(input, cwd);
  const [from, count] = [numberField(input, 'offset'), numberField(input, 'limit')];
  if (file === undefined || (from === undefined && count === undefined)) return file;
  const start = from ?? 1;
  return count === undefined
    ? `${file} from line ${start}`
    : `${file}, lines ${start}–${start + count - 1}`;
};

const editDiffs = (input: ToolInput): FileDiff[] => {
  const file = stringField(input, 'file_path');
  if (file === undefined) return [];
  const [oldText, newText] = [stringField(input, 'old_string'), stringField(input, 'new_string')];
  return newText === undefined ? [] : [{ path: file, oldText: oldText ?? null, newText }];
};

const writeDiffs = (input: ToolInput): FileDiff[] => {
  const [file, newText] = [stringField(input, 'file_path'), stringField(input, 'content')];
  return file === undefined || newText === undefined ? [] : [{ path: file, newText }];
};

const agent: ToolDescriber = { kind: 'think', verb: 'Delegate:', subject: subject('description') };

const describers: Record<string, ToolDescriber> = {
  Agent: agent,
  Task: agent,
  AskUserQuestion: { kind: 'other', verb: 'Question' },
  Bash: { kind: 'execute', verb: 'Run', subject: subject('command') },
  PowerShell: { kind: 'execute', verb: 'Run', subject: subject('command') },
  BashOutput: { kind: 'execute', verb: 'Look at the output of', subject: subject('bash_id') },
  TaskOutput: { kind: 'execute', verb: 'Look at the output of', subject: subject('task_id') },
  TaskStop: { kind: 'execute', verb: 'Stop', subject: subject('task_id') },
  Monitor: { kind: 'execute', verb: 'Watch', subject: subject('command') },
  Read: {
    kind: 'read',
    verb: 'Read',
    subject: readRange,
    locations: at('file_path', 'offset'),
  },
  LSP: { kind: 'read', verb: 'Look up', subject: path('filePath'), locations: at('filePath') },
  Edit: {
    kind: 'edit',
    verb: 'Edit',
    subject: path('file_path'),
    locations: at('file_path'),
    diffs: editDiffs,
  },
  Write: {
    kind: 'edit',
    verb: 'Write',
    subject: path('file_path'),
    locations: at('file_path'),
    diffs: writeDiffs,
  },
  NotebookEdit: {
    kind: 'edit',
    verb: 'Edit',
    subject: path('notebook_path'),
    locations: at('notebook_path'),
  },
  Grep: { kind: 'search', verb: 'Search for', subject: searched('pattern'), locations: at('path') },
  Glob: { kind: 'search', verb: 'Find', subject: searched('pattern'), locations: at('path') },
  ToolSearch: {
    kind: 'search',
    verb: 'Look for tools',
    subject: (input) => quoted('query', input),
  },
  WebFetch: { kind: 'fetch', verb: 'Fetch', subject: subject('url') },
  WebSearch: {
    kind: 'fetch',
    verb: 'Search the web for',
    subject: (input) => quoted('query', input),
  },
  web_search: {
    kind: 'fetch',
    verb: 'Search the web for',
    subject: (input) => quoted('query', input),
  },
  Skill: { kind: 'other', verb: 'Use the skill', subject: subject('skill') },
  SendMessage: { kind: 'other', verb: 'Send a message to', subject: subject('to') },
  EnterPlanMode: { kind: 'switch_mode', verb: 'Start planning' },
  ExitPlanMode: { kind: 'switch_mode', verb: 'Plan' },
  EnterWorktree: { kind: 'switch_mode', verb: 'Enter a worktree', subject: subject('name') },
  ExitWorktree: { kind: 'switch_mode', verb: 'Leave the worktree' },
  TodoWrite: { kind: 'think', verb: 'Update the to-do list' },
};

/** Describes an unknown tool. `mcp__server__tool` is shown with its server; any other tool is shown by its name. */
function unknownTool(name: string): ToolDescriber {
  const [prefix, server, ...tool] = name.split('__');
  const called = prefix === 'mcp' && tool.length > 0 ? `${server}: ${tool.join('__')}` : name;
  return { kind: 'other', verb: called };
}

/** Describes a call. `cwd` is the session's folder, to which paths are relative. */
export function describeTool(name: string, input: ToolInput, cwd: string): ToolDescription {
  const maker = (Object.hasOwn(describers, name) && describers[name]) || unknownTool(name);
  const subjectText = maker.subject?.(input, cwd);
  const locations = maker.locations?.(input) ?? [];
  const diffs = maker.diffs?.(input) ?? [];
  return {
    kind: maker.kind,
    title:
      subjectText === undefined ? maker.verb.replace(/:$/, '') : `${maker.verb} ${subjectText}`,
    ...(locations.length > 0 && { locations }),
    ...(diffs.length > 0 && { diffs }),
  };
}
