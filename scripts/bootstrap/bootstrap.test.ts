import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { findChromium } from './chromium.mjs';
import { isInstalled } from './install.mjs';
import { hashSources, makeOnce } from './made-of.mjs';
import { needsOf } from './needs.mjs';
import { root } from './root.mjs';
import { runOwnNode } from './run-own-node.mjs';
import { findPostgres, findPython, findRedis, missingServices } from './services.mjs';
import { webSources } from './web.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-bootstrap-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lockfile', () => {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const { packages } = z
    .object({
      packages: z.record(
        z.string(),
        z.object({ optionalDependencies: z.record(z.string(), z.string()).default({}) }),
      ),
    })
    .parse(JSON.parse(text));

  test('the lockfile contains no address of a registry, so that every machine uses its own registry', () => {
    expect(text).not.toMatch(/"resolved": "http/);
  });

  // When npm writes the lockfile, npm leaves out packages that its own registry lacks. Other machines then cannot
  // install these packages.
  test('the lockfile contains the optional packages of every machine', () => {
    const names = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
    const wanted = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies),
    );
    expect(wanted.filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('the installation', () => {
  test('an installation is complete if it has the packages of the lockfile', () => {
    lock({ 'node_modules/a': { version: '1.0.0' } });
    record({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(folder)).toBe(true);
  });

  test('in a clean clone, no installation is found', () => {
    lock({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(folder)).toBe(false);
  });

  test('an installation is stale if the lockfile contains another version of a package', () => {
    lock({ 'node_modules/a': { version: '1.0.1' } });
    record({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(folder)).toBe(false);
  });

  test('an installation is stale if the lockfile contains a package that is not installed', () => {
    lock({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } });
    record({ 'node_modules/a': { version: '1.0.0' } });
    expect(isInstalled(folder)).toBe(false);
  });

  test('an installation is complete even if it lacks packages for other machines and npm’s record of a workspace', () => {
    lock({
      '': {},
      'packages/x': { version: '0.1.0' },
      'node_modules/x': { link: true },
      'node_modules/for-another-cpu': { version: '1.0.0', optional: true },
    });
    record({ 'packages/x': { version: '0.1.0' }, 'node_modules/x': { link: true } });
    expect(isInstalled(folder)).toBe(true);
  });
});

describe('the sources of the web app', () => {
  beforeEach(() => {
    write('package-lock.json', '{}');
    write('packages/protocol/src/index.ts', 'protocol');
    write('packages/client/src/index.ts', 'client');
    write('packages/web/index.html', 'page');
    write('packages/web/src/main.tsx', 'main');
  });

  test.each([
    'package-lock.json',
    'packages/protocol/src/index.ts',
    'packages/client/src/deep/new.ts',
    'packages/web/index.html',
    'packages/web/src/main.tsx',
    'packages/web/vite.config.ts',
  ])('the hash of the sources changes if %s changes', (file) => {
    const before = hashSources(folder, webSources);
    write(file, 'changed');
    expect(hashSources(folder, webSources)).not.toBe(before);
  });

  test.each([
    'packages/web/dist/index.html',
    'packages/web/src/main.test.tsx',
    'packages/web/test/page.test.ts',
    'packages/web/node_modules/a/index.js',
    'packages/server/src/index.ts',
  ])('the hash of the sources stays the same if %s changes', (file) => {
    const before = hashSources(folder, webSources);
    write(file, 'changed');
    expect(hashSources(folder, webSources)).toBe(before);
  });

  test('moving text from one source file to another changes the hash of the sources', () => {
    write('packages/web/src/a.ts', 'one');
    write('packages/web/src/b.ts', 'two');
    const before = hashSources(folder, webSources);
    write('packages/web/src/a.ts', 'on');
    write('packages/web/src/b.ts', 'etwo');
    expect(hashSources(folder, webSources)).not.toBe(before);
  });
});

test('a build runs again only if its sources have changed', async () => {
  write('packages/a.ts', 'one');
  let made = 0;
  const make = async (): Promise<void> =>
    makeOnce(folder, {
      sources: ['packages'],
      stamp: 'deep/.sources',
      make: async () => void (made += 1),
    });
  await make();
  await make();
  expect(made).toBe(1);
  write('packages/a.ts', 'two');
  await make();
  expect(made).toBe(2);
});

describe('the preparation for some tests', () => {
  const everything = ['services', 'browser', 'web', 'bundle'];
  const needs = (...only: string[]) => [...needsOf(root, only)].toSorted();

  test('everything is prepared for a run of all tests, and for a path without tests', () => {
    expect(needs()).toEqual(everything.toSorted());
    expect(needs('no/such/test.ts')).toEqual(everything.toSorted());
  });

  test('nothing is prepared for unit tests', () => {
    expect(needs('packages/protocol/src/size.test.ts')).toEqual([]);
    expect(needs('scripts/bootstrap')).toEqual([]);
  });

  test('nothing is prepared for a test that starts no service', () => {
    expect(needs('./packages/server/test/guard.test.ts')).toEqual([]);
  });

  test('services are prepared for a test whose helper starts a service', () => {
    expect(needs('packages/storage/test/redis-tasks.test.ts')).toEqual(['services']);
    expect(needs(join(root, 'packages/storage/test/postgres.test.ts'))).toEqual(['services']);
  });

  test('a browser and the built page are prepared for tests of the page', () => {
    expect(needs('packages/web/test/setup.test.ts')).toEqual(['browser', 'web']);
  });

  test('for several paths, everything that one of them needs is prepared', () => {
    const both = ['packages/storage/test/redis-tasks.test.ts', 'packages/web/test/setup.test.ts'];
    expect(needs(...both)).toEqual(['browser', 'services', 'web']);
  });
});

describe('Chromium', () => {
  test('if CHROMIUM_PATH contains the path of a program, that Chromium is used', () => {
    const program = join(folder, 'my-chromium');
    writeFileSync(program, '');
    chmodSync(program, 0o755);
    expect(findChromium({ CHROMIUM_PATH: program })).toBe(program);
  });

  test('if CHROMIUM_PATH is not a program, an error says so', () => {
    expect(() => findChromium({ CHROMIUM_PATH: folder })).toThrow(/CHROMIUM_PATH/);
  });
});

describe('the servers that tests need', () => {
  const names = (env: NodeJS.ProcessEnv) => missingServices(env).map(({ name }) => name);

  test('the programs of Redis or Valkey, PostgreSQL and Python are found in PATH', () => {
    for (const name of ['valkey-server', 'postgres', 'initdb', 'python3']) program(name);
    const found = { PATH: `/nowhere:${folder}` };
    expect(findRedis(found)).toBe(join(folder, 'valkey-server'));
    expect(findPostgres(found)?.initdb).toBe(join(folder, 'initdb'));
    expect(names(found)).toEqual([]);
    program('redis-server');
    expect(findRedis(found)).toBe(join(folder, 'redis-server'));
  });

  test('a Python is used only if it has redis-py', () => {
    const python = join(folder, 'python3');
    write('python3', `#!/bin/sh\n[ "$2" = 'import redis' ]\n`);
    chmodSync(python, 0o755);
    expect(findPython({ PATH: folder })).toBe(python);
    write('python3', '#!/bin/sh\nexit 1\n');
    expect(findPython({ PATH: folder })).not.toBe(python);
  });

  test('a service whose address is in the environment need not be installed', () => {
    expect(names({ PATH: folder })).toContain('Redis');
    const urls = {
      LIMINAL_REDIS_URL: 'redis://one',
      LIMINAL_DATABASE_URL: 'postgresql://one',
      LIMINAL_PYTHON: '/opt/python3',
    };
    expect(names({ PATH: folder, ...urls })).toEqual([]);
  });
});

describe('the own Node', () => {
  beforeEach(() => {
    write(
      'node_modules/.bin/node',
      `#!/bin/sh\nexec '${process.execPath.replaceAll("'", String.raw`'\''`)}' "$@"\n`,
    );
    chmodSync(join(folder, 'node_modules/.bin/node'), 0o755);
  });

  test('the repository’s Node passes arguments to a script, and returns the script’s exit code', async () => {
    write('script.mjs', 'process.exit(Number(process.argv[2]) + 1)');
    expect(await runOwnNode(folder, ['script.mjs', '41'])).toBe(42);
  });

  test('if a signal ends a script, the repository’s Node returns 128 plus the signal’s number', async () => {
    write('script.mjs', "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)");
    expect(await runOwnNode(folder, ['script.mjs'])).toBe(128 + 15);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'the repository’s Node passes %s on to the script',
    async (signal) => {
      write(
        'script.mjs',
        `process.on('${signal}', () => process.exit(7));
       setInterval(() => {}, 1000);
       console.log('ready');`,
      );
      const { host } = startHost(`
      import { runOwnNode } from ${moduleNamed('run-own-node.mjs')};
      process.exitCode = await runOwnNode(${JSON.stringify(folder)}, ['script.mjs']);`);
      await once(host.stdout, 'data');
      host.kill(signal);
      expect(await once(host, 'exit')).toEqual([7, null]);
    },
  );

  test('a script inherits standard input and standard output', async () => {
    write('script.mjs', 'process.stdin.pipe(process.stdout)');
    const { over, host } = startHost(`
      import { run } from ${moduleNamed('run.mjs')};
      import { runOwnNode } from ${moduleNamed('run-own-node.mjs')};
      await run(process.execPath, ['-e', 'console.log("installing"); process.stdin.pipe(process.stdout)']);
      process.exitCode = await runOwnNode(${JSON.stringify(folder)}, ['script.mjs']);`);
    host.stdin.end('what was typed');
    expect(await over).toBe('what was typed');
  });

  test('a script has the repository’s Node first in PATH, and the added environment variables', async () => {
    write(
      'script.mjs',
      `const first = process.env.PATH.split(':')[0];
       process.exit(process.env.ADDED === 'yes' && first.endsWith('node_modules/.bin') ? 0 : 1);`,
    );
    expect(await runOwnNode(folder, ['script.mjs'], { ADDED: 'yes' })).toBe(0);
  });
});

function program(name: string): void {
  write(name, '');
  chmodSync(join(folder, name), 0o755);
}

const moduleNamed = (name: string): string => JSON.stringify(join(import.meta.dirname, name));

/** Runs a module in a process of its own. `over` resolves with the module's output. */
function startHost(source: string) {
  write('host.mjs', source);
  const host = spawn(process.execPath, [join(folder, 'host.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { host, over: text(host.stdout) };
}

type Packages = Record<string, Record<string, string | boolean>>;

function lock(packages: Packages): void {
  write('package-lock.json', JSON.stringify({ packages }));
}

/** Writes the record that npm keeps of an installation. */
function record(packages: Packages): void {
  write('node_modules/.package-lock.json', JSON.stringify({ packages }));
}

function write(file: string, text: string): void {
  const place = join(folder, file);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}
