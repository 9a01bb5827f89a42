import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const repository = fileURLToPath(new URL('../..', import.meta.url));
const vendor = '@anthropic-ai';
const sdk = 'claude-agent-sdk';
const platform = `${sdk}-${process.platform}-${process.arch}`;

/** The program of Claude Code. */
export const realClaude = createRequire(import.meta.url).resolve(`${vendor}/${platform}/claude`);

/**
 * A second installation of Liminal. It has its own Claude Code program, which a test can break. It shares all other
 * files with the repository.
 */
export class Installation {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Installs Liminal into a folder, without a Claude Code program. */
  static async make(root: string): Promise<Installation> {
    const modules = join(root, 'node_modules');
    await mkdir(join(modules, '@liminal'), { recursive: true });
    // `cp` needs a tenth of the time that Node would need for the copy.
    await run('cp', ['-R', join(repository, 'packages'), root]);
    for (const name of await readdir(join(root, 'packages'))) {
      await symlink(join(root, 'packages', name), join(modules, '@liminal', name));
    }
    await linkAll('', modules, ['@liminal', vendor, '.cache']);
    await mkdir(join(modules, vendor));
    await linkAll(vendor, join(modules, vendor), [sdk, platform]);
    // The SDK looks for the program next to its own real path.
    const from = join(repository, 'node_modules', vendor, sdk);
    await run('cp', ['-R', from, join(modules, vendor)]);
    return new Installation(root);
  }

  /** The program of the command line. */
  get liminal(): string {
    return join(this.#root, 'packages/cli/bin/liminal.js');
  }

  /** Installs this text as the Claude Code program, with this file mode. Without a text, no program is installed. */
  async putClaude(text?: string, mode = 0o755): Promise<void> {
    const folder = join(this.#root, 'node_modules', vendor, platform);
    await rm(folder, { recursive: true, force: true });
    if (text === undefined) return;
    await mkdir(folder);
    // Another process writes the file, because an executable that is open for writing cannot be started.
    await writeFile(join(folder, 'claude'), text);
    await chmod(join(folder, 'claude'), mode);
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ name: `${vendor}/${platform}` }),
    );
  }
}

async function linkAll(folder: string, to: string, except: readonly string[]): Promise<void> {
  const from = join(repository, 'node_modules', folder);
  for (const name of await readdir(from)) {
    if (!except.includes(name)) await symlink(join(from, name), join(to, name));
  }
}
