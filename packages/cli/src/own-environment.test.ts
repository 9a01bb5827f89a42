import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { takeOwnPrograms, takeOwnVariables } from '../bin/own-environment.js';

test('agents inherit all variables except Liminal’s own', () => {
  const env = {
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'key',
    LIMINAL_TOKEN: 'secret',
    LIMINAL_PORT: '1',
    LIMINAL_MARK: 'outer',
  };
  expect(takeOwnVariables(env)).toEqual({ LIMINAL_TOKEN: 'secret', LIMINAL_PORT: '1' });
  expect(env).toEqual({ PATH: '/bin', ANTHROPIC_API_KEY: 'key', LIMINAL_MARK: 'outer' });
});

test('agents find the user’s own programs, not those installed with Liminal', () => {
  const root = mkdtempSync(join(tmpdir(), 'liminal-path-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const bin = (name: string): string => join(root, name, 'node_modules/.bin');
  for (const name of ['ours', 'project', 'empty']) mkdirSync(bin(name), { recursive: true });
  symlinkSync(process.execPath, join(bin('ours'), 'node'));
  writeFileSync(join(bin('project'), 'node'), 'another Node');
  const others = [bin('project'), bin('empty'), '/nowhere/.bin', '/usr/bin'];
  const env = { PATH: [bin('ours'), ...others, bin('ours')].join(delimiter) };
  takeOwnPrograms(env);
  expect(env.PATH.split(delimiter)).toEqual(others);
  const none: NodeJS.ProcessEnv = {};
  takeOwnPrograms(none);
  expect(none).toEqual({});
});
