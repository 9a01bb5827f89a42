import { expect, it } from 'vitest';
import { commandHint, commandPrefix, matchCommands } from './command-matches.ts';

const commands = ['compact', 'clear', 'context', 'pr-comments'].map((name) => ({
  name,
  description: '',
}));

it('the start of a message is a command if it is a slash and one word', () => {
  expect(commandPrefix('/')).toBe('');
  expect(commandPrefix('/co')).toBe('co');
  expect(commandPrefix('/co now')).toBeUndefined();
  expect(commandPrefix('see /co')).toBeUndefined();
});

it('commands whose names begin with the typed text come before commands whose names contain it', () => {
  const names = (prefix: string) => matchCommands(commands, prefix).map((command) => command.name);
  expect(names('CO')).toEqual(['compact', 'context', 'pr-comments']);
  expect(names('')).toHaveLength(4);
  expect(names('x-y')).toEqual([]);
});

it('a typed command shows its hint until the person types an argument', () => {
  const hinted = [{ name: 'compact', description: '', hint: 'what to keep' }, ...commands.slice(1)];
  expect(commandHint(hinted, '/compact ')).toBe('what to keep');
  expect(commandHint(hinted, '/compact')).toBeUndefined();
  expect(commandHint(hinted, '/compact the')).toBeUndefined();
  expect(commandHint(hinted, '/clear ')).toBeUndefined();
});

it('a command with a matching alias comes after commands with matching names, and shows its hint', () => {
  const named = [
    { name: 'usage', description: '', aliases: ['cost', 'stats'] },
    { name: 'clear', description: '', hint: 'name', aliases: ['reset'] },
    ...commands.filter(({ name }) => name !== 'clear'),
  ];
  const names = (prefix: string) => matchCommands(named, prefix).map((command) => command.name);
  expect(names('co')).toEqual(['compact', 'context', 'usage', 'pr-comments']);
  expect(names('res')).toEqual(['clear']);
  expect(names('tat')).toEqual(['usage']);
  expect(commandHint(named, '/reset ')).toBe('name');
});
