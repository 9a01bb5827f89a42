import { expect, test } from 'vitest';
import { TerminalTexts } from './terminals.ts';

test('a terminal keeps all its output, and how its program exited', () => {
  const terminals = new TerminalTexts();
  terminals.print('t', 'one ');
  terminals.print('other', 'else');
  terminals.print('t', 'two');
  expect(terminals.exitOf('t')).toBeUndefined();
  terminals.exit('t', { exitCode: 3 });
  expect(terminals.text('t')).toBe('one two');
  expect(terminals.text('t')).toBe('one two');
  expect(terminals.exitOf('t')).toEqual({ exitCode: 3 });
});

test('an unknown terminal has no output and no exit status', () => {
  const terminals = new TerminalTexts();
  expect(terminals.exitOf('nobody')).toBeUndefined();
  expect(terminals.text('nobody')).toBe('');
});

test('a forgotten terminal has no output', () => {
  const terminals = new TerminalTexts();
  terminals.print('t', 'one');
  terminals.exit('t', { exitCode: 0 });
  terminals.forget('t');
  expect(terminals.exitOf('t')).toBeUndefined();
  expect(terminals.text('t')).toBe('');
});

test('SAFE: a terminal that no call shows keeps only the end of its output; a shown terminal keeps all of its output', () => {
  const terminals = new TerminalTexts();
  const [block, size] = ['x'.repeat(1_024), 1_025];
  terminals.text('shown');
  for (const id of ['hidden', 'shown']) {
    for (let n = 0; n < size; n += 1) terminals.print(id, block);
    terminals.print(id, 'end');
  }
  expect(terminals.text('shown')).toHaveLength(1_024 * size + 3);
  const kept = terminals.text('hidden');
  expect(kept).toHaveLength(512 * 1_024 + 3);
  expect(kept.endsWith('xend')).toBe(true);
});

test('SAFE: the oldest of too many terminals are forgotten', () => {
  const terminals = new TerminalTexts();
  for (let n = 0; n <= 200; n += 1) terminals.exit(`t${n}`, { exitCode: n });
  expect(terminals.exitOf('t0')).toBeUndefined();
  expect(terminals.exitOf('t1')).toEqual({ exitCode: 1 });
  expect(terminals.exitOf('t200')).toEqual({ exitCode: 200 });
});
