/**
 * Whether a git command that only reads may start a program because the repository's own configuration names the program.
 * The repository is looked at with commands of git that start nothing: `config --list`, `rev-parse`, `ls-files`. What the
 * user's and the system's configuration name is the person's own.
 */
import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { contains } from '../../hidden-folders.ts';
import { commandEnvironment } from './command-environment.ts';

const execute = promisify(execFile);

/** Bounds of a look at one repository. A repository that does not keep them is taken for one that starts programs. */
const bounds = { timeout: 5_000, maxBuffer: 64 * 1024 * 1024 };
/** How many repositories are looked at, with all submodules. */
const maxRepositories = 500;

/** The last part of a setting that names a program: `filter.x.clean`, `diff.x.textconv`, `merge.x.driver`. */
const namesProgram = /(?:command|cmd|program|textconv|clean|smudge|process|driver|external|hook)$/;

/** Sections whose programs no reading command starts, or whose settings git takes from no repository. */
const otherSections = new Set(
  'alias browser difftool guitool instaweb man mergetool pager receive sendemail submodule tar trailer uploadpack'.split(
    ' ',
  ),
);

/** Settings that say how missing objects are fetched: in a partial clone, each command that reads may fetch. */
const ofFetch =
  /^(?:core\.(?:sshcommand|gitproxy|askpass|alternaterefscommand)|credential\..*|remote\..*\.(?:uploadpack|vcs)|protocol\..*|gc\.recentobjectshook)$/su;

/** What makes a repository a partial clone. */
const isPartialClone = /^(?:remote\..*\.promisor|extensions\.partialclone)$/su;

/**
 * @param onlyReads - Whether the command gets an environment in which git starts no file monitor and no hook.
 * @param hidden - Names of variables that the command does not get.
 */
export async function mayStartPrograms(
  projectDir: string,
  { onlyReads, hidden }: { onlyReads: boolean; hidden: ReadonlySet<string> },
): Promise<boolean> {
  try {
    const look = new Look(realpathSync.native(projectDir), hidden);
    return await look.atRepository(projectDir, onlyReads);
  } catch {
    // What cannot be read may name anything.
    return true;
  }
}

class Look {
  readonly #projectDir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #hooksEnv: NodeJS.ProcessEnv;
  #repositories = 0;

  constructor(projectDir: string, hidden: ReadonlySet<string>) {
    this.#projectDir = projectDir;
    // For the look, git fetches nothing and writes nothing.
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
    // Outside of a repository there is no such setting.
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

  /** Whether git may run the one hook that reading commands run: after they have written the index anew. */
  async #runsHook(folder: string): Promise<boolean> {
    const asked = ['rev-parse', '--path-format=absolute', '--git-path', 'hooks'];
    const [hooks = ''] = lines(await this.#git(folder, asked, this.#hooksEnv));
    return this.#isEditable(hooks) || existsSync(join(hooks, 'post-index-change'));
  }

  /** Git reads submodules with commands of their own, to which it passes no setting of the environment. */
  async #inSubmodules(top: string): Promise<boolean> {
    const staged = await this.#git(top, ['ls-files', '-s', '-z']);
    const submodules = staged.split('\0').filter((entry) => entry.startsWith('160000 '));
    for (const entry of submodules) {
      const folder = join(top, entry.slice(entry.indexOf('\t') + 1));
      if (existsSync(join(folder, '.git')) && (await this.atRepository(folder, false))) return true;
    }
    return false;
  }

  /** Whether file tools may change the file, or make it: it lies in the project, but not in `.git`. */
  #isEditable(path: string): boolean {
    const real = existsSync(path)
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path));
    if (!contains(this.#projectDir, real)) return false;
    return !relative(this.#projectDir, real).split('/').includes('.git');
  }

  async #git(folder: string, args: readonly string[], env = this.#env): Promise<string> {
    // Not started in the folder, whose programs must not run.
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

/** Names of the settings from the repository's own files, and from files that these include. */
function ownNames(listed: string): string[] {
  const parts = listed.split('\0');
  return parts.filter((_, at) => at % 2 === 1 && /^(?:local|worktree)$/.test(parts[at - 1] ?? ''));
}

interface Circumstances {
  onlyReads: boolean;
  /** Whether the repository is a partial clone. */
  fetches: boolean;
}

/** @param name - With its section and the last part in small letters, as git lists it. */
function isProgram(name: string, { onlyReads, fetches }: Circumstances): boolean {
  const section = name.slice(0, name.indexOf('.'));
  // An included file may be one that models change, at any time.
  if (section === 'include' || section === 'includeif') return true;
  if (name === 'core.fsmonitor') return !onlyReads;
  if (ofFetch.test(name)) return fetches;
  return !otherSections.has(section) && namesProgram.test(name.slice(name.lastIndexOf('.') + 1));
}
