import { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandFirst } from './command-first.ts';

const program = new Command().option('-V, --version', 'version');
program.command('serve', { isDefault: true }).option('--port <number>').option('--no-open');
program.command('doctor').option('--port <number>');

test.each([
  [
    ['--port', '1', 'doctor'],
    ['doctor', '--port', '1'],
  ],
  [
    ['--port=1', 'doctor'],
    ['doctor', '--port=1'],
  ],
  [
    ['--no-open', 'doctor', '--port', '1'],
    ['doctor', '--no-open', '--port', '1'],
  ],
  [
    ['doctor', '--port', '1'],
    ['doctor', '--port', '1'],
  ],
  [
    ['--port', 'doctor'],
    ['--port', 'doctor'],
  ],
  [
    ['help', 'doctor'],
    ['help', 'doctor'],
  ],
  [['--version'], ['--version']],
  [['-V'], ['-V']],
  [[], []],
])('the command line %j is read as %j', (typed, read) => {
  expect(commandFirst(program, typed)).toEqual(read);
});

test.each([[['nosuch']], [['--port', '1', 'nosuch']]])(
  '%j is refused with an error that names the unknown command and the known commands',
  (typed) => {
    expect(() => commandFirst(program, typed)).toThrow(
      'There is no command "nosuch". The commands are: serve, doctor.',
    );
  },
);

test('the error for an unknown flag contains the flag, not the word after the flag', () => {
  expect(commandFirst(program, ['--prot', '1'])).toEqual(['--prot', '1']);
});
