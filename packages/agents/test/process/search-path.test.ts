/** Tests a project with programs that have the names of Liminal's programs, and a search path with relative folders. */
import { access, chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { McpServers } from '@liminal/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AgentProcess } from '../../src/base/agent-process.ts';
import { describeCommand, findProgram } from '../../src/base/find-program.ts';
import { withoutRelative } from '../../src/base/search-path.ts';
import { FairSemaphore } from '../../src/base/fair-semaphore.ts';
import { McpTools } from '../../src/own/loop/mcp-tools.ts';
import { findRipgrep } from '../../src/own/tools/search/ripgrep.ts';

let root: string;
let projectDir: string;
let searchPath: string;

const program = (path: string, text: string) =>
  writeFile(path, text).then(async () => chmod(path, 0o755));
const mark = () => join(root, 'mark');
const hasMark = () =>
  access(mark()).then(
    () => true,
    () => false,
  );

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-path-')));
  projectDir = join(root, 'project');
  const own = join(root, 'bin');
  const foreign = join(projectDir, 'node_modules', '.bin');
  await mkdir(own);
  await mkdir(foreign, { recursive: true });
  await symlink(process.execPath, join(own, 'node'));
  await program(
    join(own, 'myagent'),
    '#!/usr/bin/env node\nconsole.log("mine", process.env.PATH)\n',
  );
  for (const folder of [foreign, projectDir]) {
    for (const name of ['myagent', 'node', 'rg', 'other', 'env']) {
      await program(join(folder, name), `#!/bin/sh\ntouch ${mark()}\n`);
    }
  }
  searchPath = [
    './node_modules/.bin',
    '',
    '.',
    'node_modules/.bin',
    own,
    '/usr/bin',
    '/bin',
    '',
  ].join(delimiter);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true });
});

const clean = () => [join(root, 'bin'), '/usr/bin', '/bin'].join(delimiter);

/** Returns the first line that an agent prints, or the reason why it prints none. */
async function run(command: string, env: Record<string, string> = {}): Promise<string> {
  const inherited = { PATH: searchPath };
  const agent = new AgentProcess({ command, args: [], env, inherited, cwd: projectDir });
  const { promise, resolve } = Promise.withResolvers<string>();
  void agent.listen({ onLine: resolve, onGone: ({ message }) => resolve(message) });
  const line = await promise;
  await agent.end(true);
  return line;
}

test('the programs of an agent and of its interpreter are searched only in absolute folders', async () => {
  expect(await run('myagent')).toBe(`mine ${clean()}`);
  expect(await run('myagent', { PATH: searchPath })).toBe(`mine ${clean()}`);
  expect(await run('other')).toBe('There is no program “other”.');
  expect(await run('other', { PATH: './node_modules/.bin' })).toBe('There is no program “other”.');
  expect(await run('other', { PATH: '' })).toBe('There is no program “other”.');
  expect(await hasMark()).toBe(false);
});

test('the program of an MCP server for bare models is searched only in absolute folders', async () => {
  vi.stubEnv('PATH', searchPath);
  const problems = new Map<string, string | undefined>();
  const server = (command: string) => ({
    type: 'stdio' as const,
    command,
    args: ['-e', ''],
    env: {},
  });
  const servers: McpServers = { node: server('node'), other: server('other') };
  const mcp = new McpTools(servers, {
    projectDir,
    hiddenVariables: [],
    starts: new FairSemaphore({ each: 8, total: 8 }),
    onProblem: (name, problem) => void problems.set(name, problem),
  });
  expect(await mcp.tools()).toEqual([]);
  await mcp.close();
  expect([...problems.keys()].toSorted()).toEqual(['node', 'other']);
  expect(await hasMark()).toBe(false);
});

test('a program that exists only in a relative folder of the search path is not found', async () => {
  const before = process.cwd();
  process.chdir(projectDir);
  try {
    expect(findProgram('other', searchPath)).toBeUndefined();
    expect(findProgram('other', '')).toBeUndefined();
    expect(findProgram('myagent', searchPath)).toBe(join(root, 'bin', 'myagent'));
    const agent = { cliType: 'other', name: 'Other', description: '' };
    expect(describeCommand(agent, 'other', searchPath)).toMatchObject({ available: false });
    const none = () => Promise.reject(new Error('None is installed.'));
    const ripgrep = (await findRipgrep(`.${delimiter}node_modules/.bin`, none)) ?? '';
    expect(ripgrep).toMatch(/^(\/(usr\/)?bin\/rg)?$/);
  } finally {
    process.chdir(before);
  }
});

test('a search path keeps its absolute folders in their order, and never becomes empty', () => {
  expect(withoutRelative(searchPath)).toBe(clean());
  expect(withoutRelative('')).toBe('/usr/bin:/bin');
  expect(withoutRelative('.::bin')).toBe('/usr/bin:/bin');
});
