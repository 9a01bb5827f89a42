import { expect, it } from 'vitest';
import { initials } from './AgentMark.tsx';

it.each([
  ['Gemini', 'Ge'],
  ['goose', 'Go'],
  ['my own agent', 'Mo'],
  ['OpenCode', 'Op'],
  ['q', 'Q'],
  ['漢字', '漢字'],
  ['', ''],
])('an agent called %j is marked %j', (name, letters) => {
  expect(initials(name)).toBe(letters);
});
