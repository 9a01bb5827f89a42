import { expect, test } from 'vitest';
import { offersFiles } from './offers-files.ts';

test.each([
  { command: 'gemini' },
  { command: '/usr/local/bin/gemini', args: ['--acp'] },
  { command: 'npx', args: ['-y', '@google/gemini-cli@0.61.0', '--acp'] },
  { command: 'npx', args: ['@google/gemini-cli', '--acp'] },
  { command: 'node', args: ['node_modules/@google/gemini-cli/bundle/gemini.js', '--acp'] },
])('Gemini CLI may not read and write files through Liminal: %j', (command) => {
  expect(offersFiles(command)).toBe(false);
});

test.each([
  { command: 'qwen', args: ['--acp'] },
  { command: 'opencode', args: ['acp', '--model', 'google/gemini-3-pro'] },
  { command: 'goose', args: ['acp'] },
])('another agent may read and write files through Liminal: %j', (command) => {
  expect(offersFiles(command)).toBe(true);
});
