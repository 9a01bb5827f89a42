/** Translates Codex' tools: name, kind, title, locations, diffs and results. */
import type { FileDiff, OutputItem, ToolKind, ToolLocation } from '@liminal/protocol';
import { oneLine, shortPath } from '../../../base/titles.ts';
import { type WebAction, webResults, webSearchCall } from '../../../base/web-search.ts';
import { type OutputParts, pictureOf, readParts } from './parts.ts';
import type { CommandAction, FileChange, ItemOf, ThreadItem } from './wire.ts';

/** The fields of a `function_call` item that depend on the called tool. */
export type CallFields = Pick<
  Extract<OutputItem, { type: 'function_call' }>,
  'name' | 'kind' | 'title' | 'arguments' | 'locations' | 'diffs'
>;

export type ToolItem = Exclude<
  ThreadItem,
  {
    type:
      | 'userMessage'
      | 'agentMessage'
      | 'plan'
      | 'reasoning'
      | 'hookPrompt'
      | 'contextCompaction'
      | 'enteredReviewMode'
      | 'exitedReviewMode';
  }
>;

/** @param cwd - The session's folder: paths in titles are relative to it. */
export function callOf(item: ToolItem, cwd: string): CallFields {
  switch (item.type) {
    case 'commandExecution':
      return item.source === 'userShell' ? ownCommandCall(item) : commandCall(item, cwd);
    case 'fileChange':
      return patchCall(item, cwd);
    case 'mcpToolCall': {
      const { server, tool, arguments: input = {} } = item;
      return mcpCall(server, tool, input);
    }
    case 'webSearch':
      return searchCall(item);
    case 'imageView': {
      const { path } = item;
      const title = `View ${shortPath(path, cwd)}`;
      return { ...call('view_image', 'read', title, { path }), locations: [{ path }] };
    }
    case 'dynamicToolCall': {
      const { namespace, tool, arguments: input = {} } = item;
      const name = namespace == null ? tool : `${namespace}.${tool}`;
      return call(name, 'other', name, input);
    }
    case 'collabAgentToolCall':
      return taskCall(item);
    case 'imageGeneration': {
      const { revisedPrompt: prompt, savedPath: path } = item;
      const title = prompt == null ? 'Make an image' : `Make an image: ${oneLine(prompt)}`;
      const made = call('image_generation', 'other', title, prompt == null ? {} : { prompt });
      return path == null ? made : { ...made, locations: [{ path }] };
    }
    case 'sleep':
      return call('sleep', 'other', `Wait ${(item.durationMs ?? 0) / 1_000} s`, {});
    case 'functionCallOutput':
      return call(item.name, 'other', item.name, {});
  }
}

const call = (name: string, kind: ToolKind, title: string, input: unknown): CallFields => ({
  name,
  kind,
  title,
  arguments: JSON.stringify(input) ?? '{}',
});

const webActions: Record<string, WebAction['kind']> = { openPage: 'open', findInPage: 'find' };

function searchCall({ query, action }: ItemOf<'webSearch'>): CallFields {
  const { type = '', url, pattern, queries } = action ?? {};
  return webSearchCall({
    kind: webActions[type] ?? 'search',
    query,
    queries: queries ?? undefined,
    url: url ?? undefined,
    pattern: pattern ?? undefined,
  });
}

/** Returns a call of an MCP server's tool. */
export const mcpCall = (server: string, tool: string, input: unknown): CallFields =>
  call(`mcp__${server}__${tool}`, 'other', `${server}: ${tool}`, input);

/** Titles for actions on subagents. */
const tasks: Record<string, string> = {
  spawnAgent: 'Delegate',
  sendInput: 'Tell an agent',
  sendMessage: 'Tell an agent',
  followupTask: 'Give an agent a further task',
  resumeAgent: 'Resume an agent',
  wait: 'Wait for agents',
  closeAgent: 'End an agent',
  interruptAgent: 'Stop an agent',
  listAgents: 'List the agents',
  // Liminal adds this call. Below this call, people see the further items of a task that continues after its turn.
  goesOn: 'Delegated before',
};

function taskCall({ tool, prompt, receiverThreadIds }: ItemOf<'collabAgentToolCall'>): CallFields {
  const verb = Object.hasOwn(tasks, tool) ? tasks[tool] : tool;
  const title = prompt == null ? verb : `${verb}: ${oneLine(prompt)}`;
  const input = { ...(prompt != null && { prompt }), agents: receiverThreadIds };
  return call(tool, 'think', title ?? tool, input);
}

const verbs: Record<string, [kind: ToolKind, verb: string]> = {
  read: ['read', 'Read'],
  listFiles: ['search', 'List'],
  search: ['search', 'Search for'],
};

type CommandParts = Pick<ItemOf<'commandExecution'>, 'command' | 'cwd' | 'commandActions'>;

/**
 * Returns the fields of a command's call. Codex recognises commands that only read; the title of such a command
 * contains the names of the files that the command reads.
 */
export function commandCall(
  { command, cwd: folder, commandActions: actions }: CommandParts,
  cwd: string,
): CallFields {
  const written = writtenIn(command, actions);
  const known = actions.map(({ type }) => (Object.hasOwn(verbs, type) ? verbs[type] : undefined));
  const [first] = known;
  const isOne = first !== undefined && known.every((one) => one?.[0] === first[0]);
  const [kind, title] = isOne
    ? [first[0], actions.map((one) => looked(one, folder, cwd)).join(', ')]
    : (['execute', `Run ${oneLine(written)}`] as const);
  const locations = actions.flatMap((one): ToolLocation[] =>
    isOne && one.type === 'read' && one.path != null ? [{ path: one.path }] : [],
  );
  return {
    ...call('shell', kind, title, { command: written, cwd: folder }),
    ...(locations.length > 0 && { locations }),
  };
}

/**
 * Returns the fields of a person's own command, always with the kind `execute`: Codex' classification is meant for the
 * model's commands.
 */
function ownCommandCall({ command, cwd }: CommandParts): CallFields {
  const written = ownCommand(command);
  return call('shell', 'execute', `Run ${oneLine(written)}`, { command: written, cwd });
}

/**
 * Returns a person's own command as the person wrote it. Codex passes the command as the last argument to a shell, and
 * reports the whole shell command.
 */
export function ownCommand(command: string): string {
  const [, word] = /^(?:\S*\/)?\w*sh -l?c (.*)$/s.exec(command) ?? [];
  return (word === undefined ? undefined : unquoted(word)) ?? command;
}

/** Returns the value of a shell word, which can have several quoted parts; undefined for several words. */
function unquoted(word: string): string | undefined {
  const part = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
  let value = '';
  while (part.lastIndex < word.length) {
    const [, single, double, escaped, plain] = part.exec(word) ?? [];
    const inDouble = double?.replaceAll(/\\([$`"\\!])/g, '$1');
    const found = single ?? inDouble ?? escaped ?? plain;
    if (found === undefined) return undefined;
    value += found;
  }
  return value;
}

/**
 * Returns the command without the shell command around it, if the command's only action in Codex' classification is the
 * whole command; otherwise returns the command unchanged.
 */
function writtenIn(command: string, actions: readonly CommandAction[]): string {
  const [, script = ''] = /^(?:\S*\/)?\w*sh -l?c (.*)$/s.exec(command) ?? [];
  const written = actions.length === 1 ? (actions[0]?.command ?? '') : '';
  return written !== '' && lettersOf(script) === lettersOf(written) ? written : command;
}

/** Returns the text without quotes, backslashes and blanks. */
const lettersOf = (text: string): string => text.replaceAll(/['"\\\s]/g, '');

function looked({ type, name, path, query }: CommandAction, folder: string, cwd: string): string {
  const verb = verbs[type]?.[1] ?? type;
  const place = path == null || path === '' ? undefined : shortPath(path, cwd);
  if (type === 'search' && query != null) {
    return `${verb} “${oneLine(query)}”${place === undefined ? '' : ` in ${place}`}`;
  }
  return `${verb} ${place ?? name ?? shortPath(folder, cwd)}`;
}

function patchCall({ changes }: ItemOf<'fileChange'>, cwd: string): CallFields {
  const paths = changes.map(({ path }) => path);
  const isNew = changes.length > 0 && changes.every(({ kind }) => kind.type === 'add');
  const isGone = changes.length > 0 && changes.every(({ kind }) => kind.type === 'delete');
  const verb = isNew ? 'Write' : isGone ? 'Delete' : 'Edit';
  const title = `${verb} ${paths.map((path) => shortPath(path, cwd)).join(', ') || 'files'}`;
  const input = changes.map(({ path, kind, diff }) => ({ path, kind, diff }));
  return {
    ...call('apply_patch', isGone ? 'delete' : 'edit', title, { changes: input }),
    locations: paths.map((path) => ({ path })),
    diffs: changes.flatMap(diffsOf),
  };
}

/**
 * Returns the diffs of a change. The change of an existing file has one diff for each hunk. Each diff includes the
 * lines around the change.
 */
function diffsOf({ path, kind, diff }: FileChange): FileDiff[] {
  if (kind.type === 'add') return [{ path, newText: diff }];
  if (kind.type === 'delete') return [{ path, oldText: diff, newText: '' }];
  const to = kind.move_path ?? path;
  const hunks = diff.split(/(?<![^\n])(?=@@[^\n]*\n)/).filter((part) => part.startsWith('@@'));
  return hunks.map((part) => {
    const hunk = part.slice(part.indexOf('\n') + 1);
    const lines = hunk.split(/(?<=\n)/).filter((line) => !line.startsWith('\\'));
    const without = (mark: string): string =>
      lines.flatMap((line) => (line.startsWith(mark) ? [] : [line.slice(1)])).join('');
    return { path: to, oldText: without('+'), newText: without('-'), ...startsOf(part) };
  });
}

/** Returns the numbers of a hunk's first lines, from its head: `@@ -12,7 +12,8 @@`. */
function startsOf(part: string): Pick<FileDiff, 'oldLine' | 'newLine'> {
  const [, oldLine, newLine] = /^@@ -(\d{1,9})(?:,\d+)? \+(\d{1,9})/.exec(part) ?? [];
  return newLine === undefined ? {} : { oldLine: Number(oldLine), newLine: Number(newLine) };
}

/** The result of a tool's call. */
export interface ToolCallResult extends OutputParts {
  success: boolean;
  exitCode?: number;
  durationMs?: number;
}

const durationOf = ({ durationMs }: ItemOf<'commandExecution' | 'mcpToolCall'>) =>
  durationMs == null ? {} : { durationMs };

const declined = 'This was not allowed.';

export function resultOf(item: ToolItem): ToolCallResult {
  switch (item.type) {
    case 'commandExecution': {
      const { aggregatedOutput, exitCode, status } = item;
      const output = aggregatedOutput || (status === 'declined' ? declined : '');
      const exit = exitCode != null && { exitCode };
      return { output, success: status === 'completed', ...exit, ...durationOf(item) };
    }
    case 'fileChange': {
      const output = item.status === 'declined' ? declined : '';
      return { output, success: item.status === 'completed' };
    }
    case 'mcpToolCall': {
      const { error, result, status } = item;
      const { content = [], structuredContent } = result ?? {};
      // Structured content repeats the content in a form for programs. Use the structured content only if there is no
      // other content.
      const parts =
        content.length === 0 && structuredContent != null ? [structuredContent] : content;
      const answer = error == null ? readParts(parts) : { output: error.message };
      return { ...answer, success: status === 'completed', ...durationOf(item) };
    }
    case 'dynamicToolCall': {
      const { contentItems, success, status } = item;
      return { ...readParts(contentItems ?? []), success: success ?? status === 'completed' };
    }
    case 'collabAgentToolCall': {
      const messages = Object.values(item.agentsStates).flatMap(({ message }) => message ?? []);
      return { output: messages.join('\n\n'), success: item.status === 'completed' };
    }
    case 'imageGeneration': {
      const { savedPath, result, failure, status } = item;
      const isMade = failure == null && status !== 'failed';
      if (!isMade)
        return { output: failure == null ? '' : JSON.stringify(failure), success: false };
      return { output: savedPath ?? '', success: true, ...pictureOf(savedPath, result) };
    }
    case 'functionCallOutput': {
      const { output } = item;
      if (Array.isArray(output)) return { ...readParts(output), success: true };
      const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
      return { output: text, success: true };
    }
    case 'imageView':
      return { output: '', success: true, ...pictureOf(item.path, item.result) };
    case 'webSearch':
      return { output: webResults(item.results ?? []), success: true };
    case 'sleep':
      return { output: '', success: true };
  }
}
