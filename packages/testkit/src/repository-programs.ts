/**
 * Repositories whose own configuration contains a command that git runs, by the setting that contains it. The program
 * of the command is `prog`, in the project folder. A folder `outside` is next to the project folder.
 */

/**
 * Shell commands that create the repository in the project folder. `HOME` must be a folder that belongs to the test.
 */
export const repositorySetup: readonly string[] = [
  'git config --global user.name A; git config --global user.email a@example.org',
  'git config --global protocol.file.allow always; git config --global init.defaultBranch main',
  'git init -q .; mkdir sub; echo one > a.txt; echo one > sub/b.txt; git add .; git commit -qm first',
  'git checkout -qb other; echo other > a.txt; git commit -qam other',
  'git checkout -q main; echo main > a.txt; git commit -qam main',
  'git merge -q other >/dev/null 2>&1 || true; echo merged > a.txt; git commit -qam merged',
  // This commit has a signature, so git starts a program to check it.
  "git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin > id",
  'git reset -q --hard $(cat id); rm id; echo two > a.txt',
];

/** This command makes git read the file again, and rewrite its index because the content has not changed. */
const touched = 'touch -d "1 hour ago" sub/b.txt';
const withAttribute = (name: string): string => `echo '* ${name}' > .gitattributes`;

export interface RepositoryProgram {
  /** Shell commands that run in the project folder after `repositorySetup`. */
  setup: string[];
  /** The git command that starts the program. */
  command: string;
  /**
   * Whether Liminal's rules for read-only commands allow the command. Liminal then runs git in such a way that git does
   * not start the program.
   */
  runs?: boolean;
}

export const repositoryPrograms: Record<string, RepositoryProgram> = {
  'core.fsmonitor': {
    setup: ['git config core.fsmonitor ./prog'],
    command: 'git status',
    runs: true,
  },
  'core.fsmonitor, in git diff': {
    setup: ['git config core.fsmonitor ./prog'],
    command: 'git diff --stat | cat',
    runs: true,
  },
  'core.fsmonitor, beside another command': {
    setup: ['git config core.fsmonitor ./prog'],
    command: 'git status && true',
  },
  'core.fsmonitor of one worktree': {
    setup: [
      'git config extensions.worktreeConfig true',
      'git config --worktree core.fsmonitor ./prog',
    ],
    command: 'git status',
    runs: true,
  },
  'core.hooksPath': {
    setup: [
      'git config core.hooksPath .husky',
      'mkdir .husky; cp prog .husky/post-index-change',
      touched,
    ],
    command: 'git status',
    runs: true,
  },
  'core.hooksPath, in git describe': {
    setup: [
      'git config core.hooksPath .husky; mkdir .husky; cp prog .husky/post-index-change',
      touched,
    ],
    command: 'git describe --always --dirty',
    runs: true,
  },
  'core.hooksPath, beside another command': {
    setup: [
      'git config core.hooksPath .husky; mkdir .husky; cp prog .husky/post-index-change',
      touched,
    ],
    command: 'git status; true',
  },
  'a hook that is a link': {
    setup: ['mkdir -p .git/hooks; ln -s ../../prog .git/hooks/post-index-change', touched],
    command: 'git diff --stat',
    runs: true,
  },
  'hooks in a linked folder, beside another command': {
    setup: [
      'rm -rf .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks; cp prog hooks/post-index-change',
      touched,
    ],
    command: 'git status; true',
  },
  'diff.external': { setup: ['git config diff.external ./prog'], command: 'git diff' },
  'diff.*.command': {
    setup: ['git config diff.x.command ./prog', withAttribute('diff=x')],
    command: 'git diff',
  },
  'diff.*.textconv': {
    setup: ['git config diff.x.textconv ./prog', withAttribute('diff=x')],
    command: 'git diff',
  },
  'diff.*.textconv, in git log': {
    setup: ['git config diff.x.textconv ./prog', withAttribute('diff=x')],
    command: 'git log -p',
  },
  'diff.*.textconv, in git blame': {
    setup: ['git config diff.x.textconv ./prog', withAttribute('diff=x')],
    command: 'git blame a.txt',
  },
  'filter.*.clean': {
    setup: ['git config filter.x.clean ./prog', withAttribute('filter=x'), touched],
    command: 'git status',
  },
  'filter.*.clean, in git diff': {
    setup: ['git config filter.x.clean ./prog', withAttribute('filter=x'), touched],
    command: 'git diff --stat',
  },
  'filter.*.clean, in git ls-files': {
    setup: ['git config filter.x.clean ./prog', withAttribute('filter=x'), touched],
    command: 'git ls-files -m',
  },
  'filter.*.process': {
    setup: ['git config filter.x.process ./prog', withAttribute('filter=x'), touched],
    command: 'git status',
  },
  'merge.*.driver': {
    setup: [
      'git config log.diffMerges remerge; git config merge.x.driver ./prog',
      withAttribute('merge=x'),
    ],
    command: 'git show -m HEAD',
  },
  'gpg.program': {
    setup: ['git config log.showSignature true; git config gpg.program ./prog'],
    command: 'git log -1',
  },
  'gpg.program, by the format': {
    setup: ['git config format.pretty %G?; git config gpg.openpgp.program ./prog'],
    command: 'git show -s',
  },
  'include.path': {
    setup: [
      'git config include.path ../shared.gitconfig',
      'git config -f shared.gitconfig filter.x.clean ./prog',
      withAttribute('filter=x'),
      touched,
    ],
    command: 'git status',
  },
  includeIf: {
    setup: [
      'git config includeIf.onbranch:main.path ../shared.gitconfig',
      'git config -f shared.gitconfig diff.external ./prog',
    ],
    command: 'git diff',
  },
  'a repository whose configuration the model may edit': {
    setup: [
      'mv .git repository; echo "gitdir: repository" > .git',
      'git config diff.external ./prog',
    ],
    command: 'git diff',
  },
  'core.sshCommand of a partial clone': {
    setup: [
      'git config extensions.partialClone origin; git config remote.origin.promisor true',
      'git config remote.origin.url ssh://example.invalid/x; git config core.sshCommand "touch ../outside/started; false"',
      'id=$(git rev-parse HEAD:sub/b.txt); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)',
    ],
    command: 'git show HEAD:sub/b.txt',
  },
  'core.fsmonitor of a submodule': {
    setup: [
      'git init -q made; (cd made; echo x > x; git add .; git commit -qm x)',
      'git submodule --quiet add ./made module; git commit -qm module',
      "git -C module config core.fsmonitor '../prog'",
    ],
    command: 'git status',
  },
  'a filter of a submodule, from a subfolder’s repository within': {
    setup: [
      'git init -q inner; (cd inner; echo x > x; git init -q deep; cd deep; echo y > y; git add .; git commit -qm y)',
      '(cd inner; git add . 2>/dev/null; git commit -qm x)',
      'git add inner 2>/dev/null; git commit -qm inner',
      'cd inner/deep; git config filter.x.clean ../../prog',
      withAttribute('filter=x'),
      'touch -d "1 hour ago" y',
    ],
    command: 'git status',
  },
};
