/** The circumstances of a measurement: machine, commit, load. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Machine, Run } from './report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export function readMachine(): Machine {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model.trim() ?? 'unknown CPU',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}

/** The current circumstances. */
export function readRun(): Run {
  return {
    at: new Date().toISOString(),
    ...readCommit(),
    node: process.versions.node,
    kernel: release(),
    load: loadavg()[0] ?? Number.NaN,
  };
}

/** Reads the commit. Without git, or outside a repository, the commit is `unknown`. */
export function readCommit(): Pick<Run, 'commit' | 'isClean'> {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // A changed report in `bench/kept` is not a change of the code.
    const changes = git('status', '--porcelain', '--', '.', ':!bench/kept');
    return { commit: git('rev-parse', '--short=8', 'HEAD').trim(), isClean: changes === '' };
  } catch {
    return { commit: 'unknown', isClean: false };
  }
}
