import { expect, it } from 'vitest';
import { lookOf } from './span-look.ts';
import { TerminalText } from './terminal-text.ts';

/** Returns the look of a text's first characters. */
function look(text: string) {
  const terminal = new TerminalText();
  terminal.show(text);
  return lookOf(terminal.lines[0]!.spans[0]!.style);
}

it.each([
  ['plain', { kind: 'as-is' }],
  ['\u001B[32mok', { kind: 'as-is', style: { color: 'var(--ansi-green)' } }],
  ['\u001B[38;5;12mok', { kind: 'as-is', style: { color: 'var(--ansi-brightBlue)' } }],
  ['\u001B[38;5;208mok', { kind: 'shifted', style: { '--colour': '#ff8700' } }],
  ['\u001B[38;2;300;0;7mok', { kind: 'shifted', style: { '--colour': '#ff0007' } }],
  ['\u001B[38;5;999mok', { kind: 'shifted', style: { '--colour': '#8d9099' } }],
  ['\u001B[30;46mok', { kind: 'as-is', style: { color: '#111214', background: '#1192a3' } }],
  ['\u001B[43mok', { kind: 'as-is', style: { color: '#111214', background: '#d6a523' } }],
  ['\u001B[44mok', { kind: 'as-is', style: { color: '#ffffff', background: '#2f62c9' } }],
  ['\u001B[7mok', { kind: 'as-is', style: { color: 'var(--sunken)', background: 'var(--text)' } }],
  ['\u001B[7;31mok', { kind: 'as-is', style: { color: '#ffffff', background: '#c9332c' } }],
  [
    '\u001B[1;3;4;9mok',
    {
      kind: 'as-is',
      style: { fontWeight: 650, fontStyle: 'italic', textDecoration: 'underline line-through' },
    },
  ],
])('a span of the text %j has the expected style', (text, expected) => {
  expect(look(text)).toEqual(expected);
});
