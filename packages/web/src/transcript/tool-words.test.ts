import { expect, it } from 'vitest';
import { tool } from './testing/items.ts';
import {
  commandOf,
  otherArguments,
  readRunWords,
  toolWords,
  notMadeReason,
  notMadeWords,
} from './tool-words.ts';

it('a call that runs a command shows the command', () => {
  const call = tool('a', {
    kind: 'execute',
    toolName: 'Bash',
    toolArguments: { command: 'npm\n test' },
  });
  expect(toolWords(call)).toEqual({ verb: 'Run', subject: 'npm test' });
});

it('a script is shown by its first line', () => {
  const script = (code: unknown, toolName = 'run_script') =>
    tool('a', { toolName, kind: 'execute', title: 'Script', toolArguments: { code } });
  const words = { verb: 'Script', subject: 'const a = 1;' };
  expect(toolWords(script('\n  const  a = 1;\nreturn a;'))).toEqual(words);
  // A model may pass a value of any type as the code.
  expect(toolWords(script(1))).toEqual({ verb: 'Run', subject: 'Script' });
  expect(toolWords(script('1', 'other'))).toEqual({ verb: 'Run', subject: 'Script' });
});

it('a command that is a list of words is shown as a person would type it', () => {
  const ran = (...command: string[]) => tool('a', { kind: 'execute', toolArguments: { command } });
  expect(commandOf(ran('/bin/bash', '-lc', 'echo hi | wc'))).toBe('echo hi | wc');
  expect(toolWords(ran('/bin/zsh', '-c', 'ls')).subject).toBe('ls');
  expect(commandOf(ran('git', 'commit', '-m', "It's done"))).toBe("git commit -m 'It'\\''s done'");
  expect(commandOf(ran())).toBeUndefined();
  expect(commandOf(tool('a', { kind: 'read', toolArguments: { command: 'x' } }))).toBeUndefined();
});

it('if only the title contains the command, the title is shown, and the folder of the command is not', () => {
  const locations = [{ path: '/code/shop' }];
  const call = tool('a', { kind: 'execute', toolName: 'execute', toolArguments: {}, locations });
  expect(toolWords({ ...call, title: 'ls -la' }).subject).toBe('ls -la');
  expect(toolWords({ ...call, title: 'execute' }, '/code').subject).toBe('shop');
});

it('the path of a file is shown relative to the file’s project', () => {
  const call = tool('a', { kind: 'read', locations: [{ path: '/code/shop/src/a.ts', line: 7 }] });
  expect(toolWords(call, '/code/shop')).toEqual({ verb: 'Read', subject: 'src/a.ts:7' });
  expect(toolWords(call, '/code/shopping').subject).toBe('/code/shop/src/a.ts:7');
});

it('a search is shown by its pattern', () => {
  const toolArguments = { path: '/code/shop', pattern: 'loadConfig' };
  expect(toolWords(tool('a', { kind: 'search', toolArguments })).subject).toBe('loadConfig');
});

it('a tool of unknown kind is shown by its title, or, if it has none, by its name', () => {
  const asks = tool('a', { toolName: 'AskUserQuestion', kind: 'other', title: 'Question' });
  expect(toolWords(asks)).toEqual({ verb: 'Question', subject: '' });
  expect(toolWords(tool('a', { toolName: 'TodoWrite' })).verb).toBe('TodoWrite');
  const mcp = tool('a', { toolName: 'mcp__github__create_issue', kind: 'other' });
  expect(toolWords(mcp).verb).toBe('github: create issue');
});

it('the title does not repeat the verb', () => {
  const call = tool('a', { kind: 'fetch', title: 'Fetch https://x.test' });
  expect(toolWords(call)).toEqual({ verb: 'Fetch', subject: 'https://x.test' });
});

it.each([
  [{}, 'Search the web', 'Search', 'the web'],
  [{ query: 'news' }, 'Search the web for “news”', 'Search', 'news'],
  [{ url: 'https://x.test' }, 'Open https://x.test', 'Fetch', 'https://x.test'],
  [{ url: 'https://x.test', pattern: 'a' }, 'Find “a” in https://x.test', 'Search', 'a'],
])('a web search with %j is shown as a web search', (toolArguments, title, verb, subject) => {
  const call = tool('a', { toolName: 'web_search', kind: 'fetch', title, toolArguments });
  expect(toolWords(call)).toEqual({ verb, subject });
});

it('a run of reads is shown in one line', () => {
  const read = tool('a', { kind: 'read' });
  const search = tool('b', { kind: 'search' });
  expect(readRunWords([read, { ...read }])).toBe('Read 2 files');
  expect(readRunWords([search, search])).toBe('Searched 2 times');
  expect(readRunWords([read, search])).toBe('Read 1 file, 1 search');
  const again = tool('d', { kind: 'read', toolArguments: { file_path: '/a.ts' } });
  expect(readRunWords([again, again, again])).toBe('Read 1 file');
  expect(readRunWords([read, { ...read, status: 'create' }])).toBe('Reading 2 files');
});

it('a subagent is shown by its task', () => {
  const toolArguments = {
    subagent_type: 'Explore',
    description: 'find dates',
    prompt: 'Find all.',
  };
  const call = tool('a', { toolName: 'Agent', kind: 'think', toolArguments });
  expect(toolWords(call)).toEqual({ verb: 'Subagent', subject: 'find dates' });
});

it('calls that were not made are counted, by kind', () => {
  const edit = tool('a', { kind: 'edit' });
  const run = tool('b', { kind: 'execute' });
  expect(notMadeWords([edit, edit, edit])).toBe('3 edits skipped');
  expect(notMadeWords([run, run])).toBe('2 commands not run');
  expect(notMadeWords([run, edit])).toBe('2 steps not done');
  expect(notMadeReason(edit, 'the server restarted')).toBe('Not made: the server restarted');
  expect(notMadeReason(run, 'stopped')).toBe('Not run: stopped');
});

it('an argument that the subject already shows is left out', () => {
  const toolArguments = { file_path: '/code/shop/a.ts', limit: 3 };
  const locations = [{ path: '/code/shop/a.ts' }];
  const call = tool('a', { kind: 'read', toolArguments, locations });
  expect(otherArguments(call, '/code/shop')).toEqual([['limit', 3]]);
});
