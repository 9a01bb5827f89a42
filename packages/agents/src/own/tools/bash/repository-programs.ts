/**
 * Finds out whether a read-only git command may start a program from the repository's own configuration. Inspects the
 * repository with git commands that start no programs: `config --list`, `rev-parse`, `ls-files`. Programs in the
 * configuration of the user and of the system are accepted, because a person has chosen them.
 */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { contains } from '../../../base/hidden-folders.ts';
import { commandEnvironment } from './command-environment.ts';

const execute = promisify(execFile);

/**
 * The limits for inspecting one repository. A repository that exceeds the limits is treated as a repository that starts
 * programs.
 */
const bounds = { timeout: 5_000, maxBuffer: 64 * 1024 * 1024 };
/** The most repositories that are inspected: a repository with all its submodules. */
const maxRepositories = 500;

/**
 * The last parts of the names of settings whose value is a program: `filter.x.clean`, `diff.x.textconv`,
 * `merge.x.driver`.
 */
const namesProgram = /(?:command|cmd|program|textconv|clean|smudge|process|driver|external|hook)$/;

/**
 * Sections whose programs no read-only command starts, or whose settings git ignores in a repository's configuration.
 */
const otherSections = new Set(
  'alias browser difftool guitool instaweb man mergetool pager receive sendemail submodule tar trailer uploadpack'.split(
    ' ',
  ),
);

/** Settings for fetching missing objects. In a partial clone, each read-only command may fetch. */
const ofFetch =
  /^(?:core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)|credential\..*|remote\..*\.(?:uploadpack|vcs)|protocol\..*|gc\.recentobjectshook)$/su;

/** Settings that make a repository a partial clone. */
const isPartialClone = /^(?:remote\..*\.promisor|extensions\.partialclone)$/su;

/**
 * @param onlyReads - Whether the command's environment keeps git from starting a file monitor and hooks.
 * @param hidden - Names of environment variables that the command does not get.
 */
export async function mayStartPrograms(
  projectDir: string,
  { onlyReads, hidden }: { onlyReads: boolean; hidden: ReadonlySet<string> },
): Promise<boolean> {
  try {
    const inspector = new RepositoryInspector(realpathSync.native(projectDir), hidden);
    return await inspector.atRepository(projectDir, onlyReads);
  } catch {
    // A repository that cannot be inspected may name programs.
    return true;
  }
}

class RepositoryInspector {
  readonly #projectDir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #hooksEnv: NodeJS.ProcessEnv;
  #repositories = 0;

  constructor(projectDir: string, hidden: ReadonlySet<string>) {
    this.#projectDir = projectDir;
    // While git inspects the repository, it must not fetch or write anything.
    const more = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '', GIT_OPTIONAL_LOCKS: '0' };
    this.#env = commandEnvironment({ hidden, onlyReads: true, more });
    this.#hooksEnv = commandEnvironment({ hidden, onlyReads: false, more });
  }

  /** Rejects if git fails. */
  async atRepository(folder: string, onlyReads: boolean): Promise<boolean> {
    this.#repositories += 1;
    if (this.#repositories > maxRepositories) return true;
    const names = ownNames(
      await this.#git(folder, ['config', '--list', '-z', '--name-only', '--show-scope']),
    );
    // The list is empty if the folder is not in a repository.
    if (names.length === 0) return false;
    const fetches = names.some((name) => isPartialClone.test(name));
    if (names.some((name) => isProgram(name, { onlyReads, fetches }))) return true;
    const paths = ['rev-parse', '--path-format=absolute', '--show-toplevel'];
    const files = ['--git-path', 'config', '--git-path', 'config.worktree'];
    const [top = '', ...configs] = lines(await this.#git(folder, [...paths, ...files]));
    if (configs.some((path) => this.#isEditable(path))) return true;
    if (!onlyReads && (await this.#runsHook(folder))) return true;
    return this.#inSubmodules(top);
  }

  /**
   * Returns whether git may run the only hook that read-only commands run. This hook runs after the index was
   * refreshed.
   */
  async #runsHook(folder: string): Promise<boolean> {
    const asked = ['rev-parse', '--path-format=absolute', '--git-path', 'hooks'];
    const [hooks = ''] = lines(await this.#git(folder, asked, this.#hooksEnv));
    return this.#isEditable(hooks) || existsSync(join(hooks, 'post-index-change'));
  }

  /**
   * Returns whether git may start a program of a submodule. Git runs separate commands for submodules. The settings in
   * the environment do not apply to these commands.
   */
  async #inSubmodules(top: string): Promise<boolean> {
    const staged = await this.#git(top, ['ls-files', '-s', '-z']);
    const submodules = staged.split('\0').filter((entry) => entry.startsWith('160000 '));
    for (const entry of submodules) {
      const folder = join(top, entry.slice(entry.indexOf('\t') + 1));
      if (existsSync(join(folder, '.git')) && (await this.atRepository(folder, false))) return true;
    }
    return false;
  }

  /**
   * Returns whether file tools can change or create the file: that is, whether the file is in the project, but not in
   * `.git`.
   */
  #isEditable(path: string): boolean {
    const real = existsSync(path)
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path));
    if (!contains(this.#projectDir, real)) return false;
    return !relative(this.#projectDir, real).split('/').includes('.git');
  }

  async #git(folder: string, args: readonly string[], env = this.#env): Promise<string> {
    // The working directory is not the folder, because git must not run programs that are in the folder.
    const { stdout } = await execute('git', ['--no-pager', '-C', folder, ...args], {
      ...bounds,
      cwd: '/',
      env,
      killSignal: 'SIGKILL',
    });
    return stdout;
  }
}

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

/**
 * Returns the names of the settings in the repository's own files, and in the files that the repository's files
 * include.
 */
function ownNames(listed: string): string[] {
  const parts = listed.split('\0');
  return parts.filter((_, at) => at % 2 === 1 && /^(?:local|worktree)$/.test(parts[at - 1] ?? ''));
}

interface Circumstances {
  onlyReads: boolean;
  /** Whether the repository is a partial clone. */
  fetches: boolean;
}

/** @param name - The setting's name in the form of git's list: the section and the last part are in lower case. */
function isProgram(name: string, { onlyReads, fetches }: Circumstances): boolean {
  const section = name.slice(0, name.indexOf('.'));
  // Models may be able to change the included file at any time.
  if (section === 'include' || section === 'includeif') return true;
  if (name === 'core.fsmonitor') return !onlyReads;
  if (ofFetch.test(name)) return fetches;
  return !otherSections.has(section) && namesProgram.test(name.slice(name.lastIndexOf('.') + 1));
}
