/** The tools in the recordings, with the names and inputs of Claude Code's tools. `takes` is in ms. */
import type { Step, UseTool } from '../script.ts';

type Rest = Partial<UseTool>;

export const read = (path: string, takes: number, output: string, rest: Rest = {}): Step => ({
  ...onFile('Read', 'read', { file_path: path }, { path }),
  takes,
  output,
  ...rest,
});

/** @param line - The first line of the change. */
export const edit = (
  path: string,
  line: number,
  takes: number,
  [oldText, newText]: readonly [before: string, after: string],
): Step => ({
  ...onFile(
    'Edit',
    'edit',
    { file_path: path, old_string: oldText, new_string: newText },
    { path, line },
  ),
  diffs: [{ path, oldText, newText }],
  takes,
  output: `The file ${path} has been updated.`,
});

export const write = (path: string, takes: number, text: string): Step => ({
  ...onFile('Write', 'edit', { file_path: path, content: text }, { path }),
  diffs: [{ path, newText: text }],
  takes,
  output: `The file ${path} has been created.`,
});

/** Searches the files below `src`. */
export const search = (pattern: string, takes: number, output: string): Step => ({
  do: 'tool',
  name: 'Grep',
  title: `Search for “${pattern}” in src`,
  kind: 'search',
  input: { pattern, path: 'src' },
  locations: [{ path: 'src' }],
  takes,
  output,
});

/** @param what - The purpose of the command. */
export const run = (
  command: string,
  what: string,
  takes: number,
  output: string,
  rest: Rest = {},
): Step => ({
  do: 'tool',
  name: 'Bash',
  title: `Run ${command}`,
  kind: 'execute',
  input: { command, description: what },
  takes,
  exitCode: 0,
  output,
  ...rest,
});

function onFile(
  name: string,
  kind: UseTool['kind'],
  input: UseTool['input'],
  at: NonNullable<UseTool['locations']>[number],
) {
  return { do: 'tool' as const, name, title: `${name} ${at.path}`, kind, input, locations: [at] };
}
