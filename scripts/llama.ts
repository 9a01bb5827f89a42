// `npm run llama` tests Liminal with llama.cpp's own server. npm offers only the sources of llama.cpp, inside the
// package `node-llama-cpp`. Building the program takes ten minutes on two cores; the built program is cached in .cache.
// The environment variable `LLAMA_SERVER` selects another program.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './bootstrap/root.mjs';

const source = 'node-llama-cpp@3.21.1';
const built = join(root, '.cache', 'llama-server', source);

function run(cwd: string, command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw error ?? new Error(`${command} ${args.join(' ')} failed (${status}).`);
}

/** The build downloads nothing: neither the server's own page nor newer sources. */
const settings = [
  '-DCMAKE_BUILD_TYPE=Release',
  '-DBUILD_SHARED_LIBS=OFF',
  '-DGGML_NATIVE=OFF',
  '-DGGML_OPENMP=OFF',
  '-DLLAMA_OPENSSL=OFF',
  '-DLLAMA_BUILD_UI=OFF',
  '-DLLAMA_USE_PREBUILT_UI=OFF',
  '-DLLAMA_BUILD_TESTS=OFF',
  '-DLLAMA_BUILD_EXAMPLES=OFF',
  // Compile with little optimisation: the model is tiny, but optimised compiling takes long.
  '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG',
];

function build(): void {
  console.error(`Building llama-server from ${source} …`);
  const folder = mkdtempSync(join(tmpdir(), 'liminal-llama-'));
  try {
    run(folder, 'npm', 'pack', '--silent', source);
    run(folder, 'tar', '-xzf', `${source.replace('@', '-')}.tgz`);
    run(folder, 'git', 'clone', '-q', 'package/llama/gitRelease.bundle', 'llama.cpp');
    run(folder, 'cmake', '-S', 'llama.cpp', '-B', 'build', ...settings);
    const jobs = String(availableParallelism());
    run(folder, 'cmake', '--build', 'build', '--target', 'llama-server', '--parallel', jobs);
    mkdirSync(join(root, '.cache', 'llama-server'), { recursive: true });
    run(folder, 'cp', 'build/bin/llama-server', `${built}.new`);
    renameSync(`${built}.new`, built);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (!process.env['LLAMA_SERVER'] && !existsSync(built)) build();
const { status } = spawnSync('vitest', ['run', '--project', 'llama', ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, LLAMA_SERVER: process.env['LLAMA_SERVER'] || built },
});
process.exitCode = status ?? 1;
