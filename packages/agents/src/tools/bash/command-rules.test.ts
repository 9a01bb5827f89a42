import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed } from '../permissions.ts';
import { commandPermissions } from './command-rules.ts';

const allows = (command: string, ...rules: string[]): boolean =>
  isAllowed(commandPermissions(command), rules);
const rulesOf = (command: string): string[] => commandPermissions(command).map(({ rule }) => rule);

test.each([
  ['npm test', ['command:npm test']],
  ['npm test -- --watch "src/a b.ts"', ['command:npm test']],
  ['npm run build', ['command:npm run build']],
  ['git status', ['command:git status']],
  ["git commit -m 'it works; really && $(truly)'", ['command:git commit']],
  ['docker compose up', ['command:docker compose up']],
  ['git add . && git commit -m x', ['command:git add', 'command:git commit']],
  ['npm test; npm test | cat -n', ['command:npm test', 'command:npm test', 'exact:cat -n']],
  ['cargo test || cargo build', ['command:cargo test', 'command:cargo build']],
  // What begins so may be anything.
  ['ls -la src', ['exact:ls -la src']],
  ['rm build', ['exact:rm build']],
  ['git -c alias.x=!sh x', ['exact:git -c alias.x=!sh x']],
  ['git -C .. status', ['exact:git -C .. status']],
  ['npm exec thing', ['exact:npm exec thing']],
  ['npm run', ['exact:npm run']],
  ['uv run ./x.sh', ['exact:uv run ./x.sh']],
  ['bash script.sh', ['exact:bash script.sh']],
  ['git "status"', ['exact:git "status"']],
])('“Always” for %s makes the rules %j', (command, rules) => {
  expect(rulesOf(command)).toEqual(rules);
});

test('what people are asked says what “always” allows', () => {
  expect(commandPermissions('npm test --watch')[0]?.always).toBe(
    'commands that begin with npm test',
  );
  expect(commandPermissions('ls | wc')[1]?.always).toBe('exactly this command: wc');
});

test.each([
  'npm test; evil',
  'npm test;evil',
  'npm test && evil',
  'npm test || evil',
  'npm test | evil',
  'npm test |& evil',
  'npm test & evil',
  'npm test &',
  'npm test `evil`',
  'npm test $(evil)',
  'npm test "$(evil)"',
  'npm test "`evil`"',
  'npm test $EVIL',
  'npm test ${EVIL}',
  'npm test <(evil)',
  'npm test > file',
  'npm test >file',
  'npm test 2>&1',
  'npm test < file',
  'npm test << EOF',
  'npm test\nevil',
  'npm test\r\nevil',
  'npm test\tx',
  'npm test "\nevil"',
  'EVIL=1 npm test',
  'PATH=/evil npm test',
  'npm test \\\nevil',
  'npm test; (evil)',
  'npm test; { evil; }',
  'npm test; !evil',
  'cd /evil && npm test',
  'npm test; cd /evil; npm test',
  'eval npm test',
  'exec npm test',
  'export PATH=/evil; npm test',
  'if npm test; then evil; fi',
  'while npm test; do evil; done',
  'npm testing',
  'npm "test x"',
  '"npm test"',
  'npm\u00a0test',
  'env npm test',
  'npm test;',
  ';npm test',
  'npm test;;npm test',
  '',
])('a rule of a beginning does not allow %j', (command) => {
  expect(allows(command, 'command:npm test')).toBe(false);
});

describe('a command', () => {
  test('is allowed by a rule of fewer or of more of its words', () => {
    expect(allows('npm test --watch src', 'command:npm')).toBe(true);
    expect(allows('npm test --watch src', 'command:npm test --watch')).toBe(true);
    expect(allows('npm test --watch src', 'command:npm test --other')).toBe(false);
    expect(allows('ls -la', 'command:ls')).toBe(true);
  });

  test('of several parts needs a rule for each', () => {
    expect(allows('npm test && ls', 'command:npm test')).toBe(false);
    expect(allows('npm test && ls', 'command:npm test', 'exact:ls')).toBe(true);
  });

  test.each([
    'X=1; npm test',
    'cd sub && npm test',
    'export X=1; npm test',
    'time npm test',
    '"cd" sub; npm test',
  ])('with a part that gives others another meaning is one whole: %s', (command) => {
    expect(rulesOf(command)).toEqual([`exact:${command}`]);
  });

  test('of several parts of one kind needs a rule for each of them', () => {
    const command = 'git push --force origin main; git push origin dev';
    expect(allows(command, 'exact:git push origin dev')).toBe(false);
    expect(allows(command, 'command:git push origin')).toBe(false);
    expect(allows(command, 'command:git push')).toBe(true);
  });

  test('that cannot be split is allowed by itself alone, or by what allows all', () => {
    const command = 'npm test > out.txt';
    expect(rulesOf(command)).toEqual([`exact:${command}`]);
    expect(allows(command, `exact:${command}`)).toBe(true);
    expect(allows(`${command} `, `exact:${command}`)).toBe(false);
    expect(allows(command, 'tool:bash')).toBe(true);
  });
});

/** Pieces of the shell's language that do more than name a program's arguments. */
const unsafe = [
  '&',
  '>',
  '<',
  '`',
  '$(',
  '$',
  '\n',
  '\r',
  '\\',
  '(',
  ')',
  '{',
  '*',
  '?',
  '[',
  '~',
  '#',
  '|&',
];

test('a command with anything unsafe outside of single quotes is never allowed by beginnings', () => {
  const plain = fc.stringMatching(/^[a-z0-9 ./=-]{0,12}$/);
  fc.assert(
    fc.property(plain, fc.constantFrom(...unsafe), plain, (before, piece, after) => {
      const command = `npm test ${before}${piece}${after}`;
      const rules = ['npm', 'npm test', 'npm test x', before.trim(), after.trim()];
      return !allows(command, ...rules.map((rule) => `command:${rule}`));
    }),
  );
});

test('a joined command is allowed exactly if each part is', () => {
  const part = fc.constantFrom(
    'npm test',
    'npm test x',
    'npm test y',
    'git status',
    'ls',
    'cat a.txt',
    'npm run build x',
  );
  const rules = fc.subarray([
    'command:npm test x',
    'exact:npm test',
    'command:git',
    'exact:ls',
    'exact:cat a.txt',
  ]);
  const joints = fc.constantFrom(' && ', ' || ', '; ', ' | ', ';', '|');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), joints, rules, (parts, joint, allowed) => {
      const isEach = parts.every((one) => allows(one, ...allowed));
      return allows(parts.join(joint), ...allowed) === isEach;
    }),
  );
});

test('any text needs something, and only rules of its own allow it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (command) => {
      const needed = commandPermissions(command);
      return (
        needed.length > 0 &&
        !isAllowed(needed, []) &&
        !isAllowed(needed, ['tool:edit', 'edit:./', 'command:', 'exact:']) === (command !== '') &&
        isAllowed(
          needed,
          needed.map(({ rule }) => rule),
        ) &&
        isAllowed(needed, ['tool:bash'])
      );
    }),
  );
});
