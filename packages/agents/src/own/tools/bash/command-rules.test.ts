import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed } from '../permissions.ts';
import { commandPermissions } from './command-rules.ts';

const allows = (command: string, ...rules: string[]): boolean =>
  isAllowed(commandPermissions(command), rules);
const rulesOf = (command: string): string[] => commandPermissions(command).map(({ rule }) => rule);

test.each([
  ['git status', ['command:git status']],
  ['git log --oneline -- "src/a b.ts"', ['command:git log']],
  ["git grep -e 'it works; really && $(truly)'", ['command:git grep']],
  ['git status && git diff --stat', ['command:git status', 'command:git diff']],
  ['git log; git log | cat -n', ['command:git log', 'command:git log', 'exact:cat -n']],
  ['git diff || cargo build', ['command:git diff', 'exact:cargo build']],
  ['git log --oneline | grep x | head -5', ['command:git log', 'exact:grep x', 'exact:head -5']],
  // What other programs do depends on their input.
  ['git show HEAD:x | sh', ['exact:git show HEAD:x | sh']],
  ['git status; git ls-files | xargs rm', ['command:git status', 'exact:git ls-files | xargs rm']],
  ['git log | sort -o x && git log', ['exact:git log | sort -o x', 'command:git log']],
  // The first words of the command do not show what the command does.
  ['npm test', ['exact:npm test']],
  ['npm run build', ['exact:npm run build']],
  ['make all', ['exact:make all']],
  [
    "git commit -m 'it works; really && $(truly)'",
    ["exact:git commit -m 'it works; really && $(truly)'"],
  ],
  ['docker compose up', ['exact:docker compose up']],
  ['ls -la src', ['exact:ls -la src']],
  ['rm build', ['exact:rm build']],
  ['git', ['exact:git']],
  ['git -c alias.x=!sh x', ['exact:git -c alias.x=!sh x']],
  ['git -C .. status', ['exact:git -C .. status']],
  ['git config core.fsmonitor x', ['exact:git config core.fsmonitor x']],
  ['git grep -Ox needle', ['exact:git grep -Ox needle']],
  ['npm exec thing', ['exact:npm exec thing']],
  ['uv run ./x.sh', ['exact:uv run ./x.sh']],
  ['bash script.sh', ['exact:bash script.sh']],
  ['git "status"', ['exact:git "status"']],
])('“Always” for %s makes the rules %j', (command, rules) => {
  expect(rulesOf(command)).toEqual(rules);
});

/** Programs that run other programs, whatever their further arguments are. */
const runners =
  'pnpm dlx,pnpm exec,pnpm run,npm exec,npm run,npx,yarn dlx,yarn run,bun x,bun run,bunx,deno run,uv run,uvx,pipx run,poetry run,cargo run,go run,make,docker run,docker exec,bundle exec,python -m,node -e,perl -e,env,sudo,doas,nice,nohup,timeout 5,stdbuf -o0,setsid,xargs,watch,find . -exec,ssh host,busybox,sh -c,bash -c,git rebase -x,git bisect run,git submodule foreach,git difftool -x,git fetch --upload-pack,git -c,systemd-run'.split(
    ',',
  );

test.each(runners)(
  'SAFE: “Always” for a command that starts with “%s” allows only exactly this command',
  (beginning) => {
    const [one, other] = [`${beginning} one --all`, `${beginning} other`];
    expect(rulesOf(one)).toEqual([`exact:${one}`]);
    expect(allows(one, ...rulesOf(one))).toBe(true);
    expect(allows(other, ...rulesOf(one), `command:${beginning}`)).toBe(false);
  },
);

/** Words of the shell that do not change the meaning of later parts. All other words may. */
const harmlessWords = new Set(
  ': [ caller compgen complete compopt dirs echo false help history jobs kill printf pwd test times true type'.split(
    ' ',
  ),
);
const shellWords = execFileSync('/bin/bash', ['-c', 'compgen -b; compgen -k'], { encoding: 'utf8' })
  .split('\n')
  .filter((word) => word !== '' && !harmlessWords.has(word));

test.each(shellWords)(
  'SAFE: a command that contains the shell’s own word %s is not split',
  (word) => {
    for (const command of [`${word} x; git status`, `git status && ${word} x`]) {
      expect(rulesOf(command)).toEqual([`exact:${command}`]);
    }
  },
);

test('the question to people explains what “always” allows', () => {
  expect(commandPermissions('git log -5')[0]?.always).toBe('read-only git log commands');
  expect(commandPermissions('ls | wc')[1]?.always).toBe('exactly this command: wc');
});

test.each([
  ['git config', 'git config core.fsmonitor x'],
  ['git bisect', 'git bisect run x'],
  ['git submodule', 'git submodule foreach x'],
  ['git grep', 'git grep -Ox needle'],
  ['git', 'git status'],
  ['make all', 'make all SHELL=x'],
  ['npm test', 'npm test --script-shell=x'],
  ['npm run build', 'npm run build --prefix=x'],
  ['uv run python', 'uv run python x.py'],
  ['ls', 'ls /etc'],
])('a stored rule of “%s” does not allow %s', (words, command) => {
  expect(allows(command, `command:${words}`)).toBe(false);
});

test('an old stored rule for a beginning still allows exactly these words', () => {
  for (const command of ['make all', 'npm test', 'npm run build']) {
    expect(allows(command, `command:${command}`)).toBe(true);
  }
});

test('a command that may show secrets is not allowed by a rule for a beginning', () => {
  const permissions = commandPermissions('git log -p; git status', (words) => words.includes('-p'));
  expect(permissions.map(({ rule }) => rule)).toEqual(['exact:git log -p', 'command:git status']);
  expect(isAllowed(permissions, ['command:git log', 'command:git status'])).toBe(false);
  expect(isAllowed(permissions, ['exact:git log -p', 'command:git status'])).toBe(true);
});

test.each([
  'git status; evil',
  'git status;evil',
  'git status && evil',
  'git status || evil',
  'git status | evil',
  'git status |& evil',
  'git status & evil',
  'git status &',
  'git status `evil`',
  'git status $(evil)',
  'git status "$(evil)"',
  'git status "`evil`"',
  'git status $EVIL',
  'git status ${EVIL}',
  'git status <(evil)',
  'git status > file',
  'git status >file',
  'git status 2>&1',
  'git status < file',
  'git status << EOF',
  'git status\nevil',
  'git status\r\nevil',
  'git status\tx',
  'git status "\nevil"',
  'EVIL=1 git status',
  'PATH=/evil git status',
  'git status \\\nevil',
  'git status; (evil)',
  'git status; { evil; }',
  'git status; !evil',
  'cd /evil && git status',
  'git status; cd /evil; git status',
  'eval git status',
  'exec git status',
  'export PATH=/evil; git status',
  'if git status; then evil; fi',
  'while git status; do evil; done',
  'git statuses',
  'git "status x"',
  '"git status"',
  'git\u00a0status',
  'env git status',
  'git status;',
  ';git status',
  'git status;;git status',
  '',
])('a rule for a beginning does not allow %j', (command) => {
  expect(allows(command, 'command:git status')).toBe(false);
});

describe('a command', () => {
  test('with several parts needs a rule for each part', () => {
    expect(allows('git status && ls', 'command:git status')).toBe(false);
    expect(allows('git status && ls', 'command:git status', 'exact:ls')).toBe(true);
  });

  test.each([
    'X=1; git status',
    'cd sub && git status',
    'export X=1; git status',
    'time git status',
    'printf -v PATH /evil; git status',
    "printf '-vPATH' /evil; git status",
    '"cd" sub; git status',
  ])('with a part that changes the meaning of other parts is not split: %s', (command) => {
    expect(rulesOf(command)).toEqual([`exact:${command}`]);
  });

  test('with several parts of one kind needs a rule for each of the parts', () => {
    const command = 'git branch -D main; git branch';
    expect(allows(command, 'command:git branch')).toBe(false);
    expect(allows(command, 'exact:git branch -D main')).toBe(false);
    expect(allows(command, 'command:git branch', 'exact:git branch -D main')).toBe(true);
  });

  test('that cannot be split is allowed only by a rule for exactly this command, or by a rule for all commands', () => {
    const command = 'git status > out.txt';
    expect(rulesOf(command)).toEqual([`exact:${command}`]);
    expect(allows(command, `exact:${command}`)).toBe(true);
    expect(allows(`${command} `, `exact:${command}`)).toBe(false);
    expect(allows(command, 'tool:bash')).toBe(true);
  });
});

/** Shell syntax that does more than name a program and its arguments. */
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

test('a command with unsafe syntax outside of single quotes is never allowed by a rule for a beginning', () => {
  const plain = fc.stringMatching(/^[a-z0-9 ./=-]{0,12}$/);
  fc.assert(
    fc.property(plain, fc.constantFrom(...unsafe), plain, (before, piece, after) => {
      const command = `git status ${before}${piece}${after}`;
      const rules = ['git', 'git status', 'git status x', before.trim(), after.trim()];
      return !allows(command, ...rules.map((rule) => `command:${rule}`));
    }),
  );
});

test.each(['sh', 'bash', 'xargs rm', 'tee x', 'sort -o x', 'python3', 'node', 'git apply'])(
  'a rule that allows “%s” does not allow this command to read the output of another command',
  (command) => {
    const rules = ['command:git show', `exact:${command}`, `command:${command}`];
    expect(allows(`git show HEAD:x | ${command}`, ...rules)).toBe(false);
    expect(allows(`git show HEAD:x; ${command}`, ...rules)).toBe(true);
  },
);

test('a command of several parts is allowed if and only if each part is allowed', () => {
  const part = fc.constantFrom(
    'git status',
    'git status x',
    'git status y',
    'git status',
    'ls',
    'cat a.txt',
    'npm run build x',
  );
  const rules = fc.subarray([
    'command:git status',
    'exact:git grep y',
    'command:git',
    'exact:ls',
    'exact:cat a.txt',
  ]);
  const joints = fc.constantFrom(' && ', ' || ', '; ', ';');
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), joints, rules, (parts, joint, allowed) => {
      const isEach = parts.every((one) => allows(one, ...allowed));
      return allows(parts.join(joint), ...allowed) === isEach;
    }),
  );
});

test('every command text needs a permission, and only rules for that text grant the permission', () => {
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
