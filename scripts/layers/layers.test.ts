import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ICruiseResult } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../bootstrap/root.mjs';
import { findBlindSpots } from './blind-spots.ts';
import { findCallbacks } from './callbacks.ts';
import { cruisePackages } from './cruise.ts';
import { describeViolations } from './describe-violations.ts';
import { rules } from './rules.ts';

const rooms = [
  'protocol',
  'storage',
  'agents',
  'runtime',
  'server',
  'client',
  'web',
  'cli',
  'testkit',
];

/** The forbidden imports by package, listed independently of the rules. */
const forbidden: Record<string, string[]> = {
  protocol: rooms.filter((room) => room !== 'protocol'),
  storage: ['agents', 'runtime', 'server', 'client', 'web', 'cli', 'testkit'],
  agents: ['storage', 'runtime', 'server', 'client', 'web', 'cli', 'testkit'],
  runtime: ['server', 'client', 'web', 'cli', 'testkit'],
  server: ['storage', 'agents', 'client', 'web', 'cli', 'testkit'],
  client: ['storage', 'agents', 'runtime', 'server', 'web', 'cli', 'testkit'],
  web: ['storage', 'agents', 'runtime', 'server', 'cli', 'testkit'],
  cli: ['web', 'testkit'],
  testkit: ['storage', 'agents', 'runtime', 'server', 'client', 'web', 'cli'],
};
const forbiddenPairs = Object.entries(forbidden).flatMap(([room, others]) =>
  others.map((other): [string, string] => [room, other]),
);

/** Files that each break one rule: the rule, the file's name, and its text. */
const plants: [rule: string, file: string, text: string][] = [
  ['room-storage', 'storage/src/type-only.ts', "import type { a } from '@liminal/runtime';"],
  ['room-storage', 'storage/src/dynamic.ts', "export const a = import('@liminal/runtime');"],
  ['room-storage', 'storage/src/passed-on.ts', "export * from '@liminal/runtime';"],
  ['no-circles', 'client/src/about.ts', "import('./round.ts');"],
  ['known-rooms', 'attic/src/index.ts', "import '@liminal/protocol';"],
  ['front-door', 'runtime/src/inside.ts', "import '../../protocol/src/inner.ts';"],
  ['front-door', 'cli/test/inside.ts', "import '../../protocol/src/inner.ts';"],
  ['runtime-root-only', 'runtime/src/driver.ts', "import '../../storage/src/sqlite/index.ts';"],
  ['runtime-root-only', 'runtime/src/suite.ts', "import '@liminal/agents/testing';"],
  ['runtime-blobs', 'runtime/src/blobs/up.ts', "import '../turn/index.ts';"],
  ['runtime-files', 'runtime/src/files/up.ts', "import '../turn/index.ts';"],
  ['runtime-git', 'runtime/src/git/up.ts', "import '../turn/index.ts';"],
  ['runtime-tracing', 'runtime/src/tracing/up.ts', "import '../turn/index.ts';"],
  ['runtime-exports', 'runtime/src/exports/up.ts', "import '../directory/index.ts';"],
  ['runtime-turn', 'runtime/src/turn/up.ts', "import '../history/index.ts';"],
  ['runtime-history', 'runtime/src/history/up.ts', "import '../subscribers/index.ts';"],
  [
    'runtime-subscribers',
    'runtime/src/subscribers/up.ts',
    "import type { a } from '../session/index.ts';",
  ],
  ['runtime-session', 'runtime/src/session/up.ts', "import '../directory/index.ts';"],
  ['runtime-directory', 'runtime/src/directory/up.ts', "import '../cluster/index.ts';"],
  ['runtime-cluster', 'runtime/src/cluster/up.ts', "import '../attic/index.ts';"],
  ['runtime-known', 'runtime/src/cellar/index.ts', "import '../errors.ts';"],
  ['runtime-doors', 'runtime/src/session/inside.ts', "import '../turn/inner.ts';"],
  ['runtime-doors', 'runtime/src/whole.ts', "import './turn/inner.ts';"],
  ['redis-connection', 'storage/src/redis/connection/up.ts', "import '../streams/index.ts';"],
  ['redis-streams', 'storage/src/redis/streams/up.ts', "import '../log/index.ts';"],
  ['redis-log', 'storage/src/redis/log/up.ts', "import '../registry/index.ts';"],
  ['redis-registry', 'storage/src/redis/registry/up.ts', "import '../coordination/index.ts';"],
  ['redis-coordination', 'storage/src/redis/coordination/up.ts', "import '../log/index.ts';"],
  ['redis-known', 'storage/src/redis/cellar/index.ts', "import '../open.ts';"],
  ['redis-doors', 'storage/src/redis/log/inside.ts', "import '../streams/inner.ts';"],
  ['runtime-whole', 'runtime/src/session/whole.ts', "import '../runtime.ts';"],
  ['adapters-apart', 'storage/src/sqlite/index.ts', "import '../redis/index.ts';"],
  ['adapters-apart', 'agents/src/kinds/demo/index.ts', "import '../claude-code/index.ts';"],
  ['adapters-apart', 'agents/src/kinds/brand-new/index.ts', "import '../claude-code/index.ts';"],
  ['adapters-apart', 'agents/src/own/makers/new/index.ts', "import '../other/index.ts';"],
  ['agents-contract', 'agents/src/contract/up.ts', "import '../base/inner.ts';"],
  ['agents-process', 'agents/src/process/up.ts', "import '../base/inner.ts';"],
  ['agents-base', 'agents/src/base/up.ts', "import '../own/tools/shell.ts';"],
  ['agents-kinds', 'agents/src/kinds/demo/own.ts', "import '../../own/tools/shell.ts';"],
  ['agents-own', 'agents/src/own/tools/up.ts', "import '../../kinds/claude-code/index.ts';"],
  ['agents-known', 'agents/src/attic/index.ts', "import '../base/inner.ts';"],
  ['no-testing-in-production', 'storage/src/prod-a.ts', "import './testing/index.ts';"],
  ['no-testing-in-production', 'agents/src/kinds/acp/prod-f.ts', "import './testing/thing.ts';"],
  ['no-testing-in-production', 'cli/src/prod-b.ts', "import '@liminal/storage/testing';"],
  ['no-testing-in-production', 'cli/src/prod-c.ts', "import '@liminal/testkit';"],
  ['no-testing-in-production', 'cli/src/prod-d.ts', "import './thing.test.ts';"],
  ['no-testing-in-production', 'cli/src/prod-e.ts', "import { expect } from 'vitest';"],
  ['no-node-in-browser', 'protocol/src/node.ts', "import { readFileSync } from 'node:fs';"],
  ['no-node-in-browser', 'client/src/node.ts', "import { join } from 'path';"],
  ['no-node-in-browser', 'web/src/Node.tsx', "import 'node:fs'; export const a = <b>bold</b>;"],
  ['no-node-in-browser', 'web/src/node.ts', "import type { Stats } from 'node:fs';"],
  ['protocol-only-zod', 'protocol/src/library.ts', "import fc from 'fast-check';"],
  ['declared', 'server/src/undeclared.ts', "import fc from 'fast-check';"],
  ['resolvable', 'server/src/lost.ts', "import './nowhere.ts';"],
];

/** Files with allowed imports. The files ensure that no rule forbids every import. */
const innocents: [file: string, text: string][] = [
  ['protocol/src/inner.ts', "import { z } from 'zod';"],
  ['client/src/round.ts', "import type { a } from './about.ts';"],
  ['storage/src/redis/index.ts', "import { join } from 'node:path'; import '@liminal/protocol';"],
  ['storage/src/redis/redis.test.ts', "import '../testing/index.ts'; import 'vitest';"],
  ['agents/src/kinds/claude-code/index.ts', "import '../../base/inner.ts';"],
  ['agents/src/base/inner.ts', "import '@liminal/protocol';"],
  ['agents/src/own/tools/shell.ts', "import '../../base/inner.ts';"],
  ['agents/src/own/makers/other/index.ts', 'export const a = 1;'],
  ['runtime/src/good.ts', "import '@liminal/storage'; import '@liminal/agents';"],
  ['runtime/src/errors.ts', ''],
  ...['history', 'subscribers', 'directory', 'attic'].map((room): [string, string] => [
    `runtime/src/${room}/index.ts`,
    'export const a = 1;',
  ]),
  ...['streams', 'log', 'registry', 'coordination'].map((room): [string, string] => [
    `storage/src/redis/${room}/index.ts`,
    'export const a = 1;',
  ]),
  ['storage/src/redis/streams/inner.ts', ''],
  ['storage/src/redis/open.ts', "import './log/index.ts';"],
  ['runtime/src/runtime.ts', "import './turn/index.ts'; import './session/index.ts';"],
  ['runtime/src/turn/inner.ts', "import '../errors.ts';"],
  ['runtime/src/turn/index.ts', "import './inner.ts';"],
  ['runtime/src/session/index.ts', "import '../turn/index.ts'; import '../history/index.ts';"],
  ['runtime/src/cluster/index.ts', "import '../runtime.ts'; import '../session/index.ts';"],
  ['runtime/src/session/session.test.ts', "import '../turn/inner.ts';"],
  ['client/src/good.ts', "import '@liminal/protocol';"],
  ['client/src/good.test.ts', "import { join } from 'node:path'; import '@liminal/testkit';"],
  ['cli/src/thing.test.ts', "import '@liminal/testkit'; import '@liminal/storage/testing';"],
  ['web/vite.config.ts', "import { join } from 'node:path';"],
  ['web/src/Good.tsx', 'import "@liminal/client"; export const Good = () => <b>import it</b>;'],
];

/**
 * Code in which a function in parentheses and a function in a union with `undefined` count as callbacks, while a number
 * and the parameters of a method do not.
 */
const callsBack = [
  'export interface ManyOptions { a: () => void; b?: () => number; c(): void; d: (() => void) | undefined }',
  'interface FewOptions { a: () => void; b: () => void; c: () => void; limit: number }',
  'interface MoreOptions extends Omit<FewOptions, "a"> { d: () => void; e: () => void }',
  'interface LessOptions extends Omit<FewOptions, "a" | "b"> { d: () => void; e: () => void }',
  'interface PartOptions { a: () => void; part?: { b: () => void; c(): void; d: () => void } }',
  'interface RestOptions extends Omit<PartOptions, "part"> { b: Part }',
  'type Act = () => void;',
  'class Taker { constructor(a: Act, b: () => void, c: { d: Act; e?: (() => void) | undefined }) {} }',
  'class Holder { constructor(options: FewOptions & { more: Act }) {} many(a: Act, b: Act, c: Act, d = 1) {} }',
  'function most(a: Act, { b, c }: { b: Act; c: Act }, ...rest: string[]) {}',
  'const tooMany = (a: Act, b: Act, c: Act, d: Act) => {};',
].join('\n');

let folder: string;
let result: ICruiseResult;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-layers-'));
  for (const room of rooms) furnish(room);
  for (const library of ['zod', 'vitest', 'fast-check']) linkLibrary(library);
  for (const [room, other] of forbiddenPairs) {
    write(`${room}/src/to-${other}.ts`, `import '@liminal/${other}';`);
  }
  for (const [, file, text] of plants) write(file, text);
  for (const [file, text] of innocents) write(file, text);
  write('server/src/calls-back.ts', callsBack);
  result = await cruisePackages(folder);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('layering', () => {
  test.each(forbiddenPairs)('the package %s may not import %s', (room, other) => {
    expect(rulesBrokenBy(`${room}/src/to-${other}.ts`)).toContain(`room-${room}`);
  });

  test('TC-7.4a: every surface reaches agents only through the runtime', () => {
    const surfaces = ['server', 'client', 'web'];
    const broken = surfaces.map((room) => rulesBrokenBy(`${room}/src/to-agents.ts`));
    expect(broken).toEqual(surfaces.map((room) => expect.arrayContaining([`room-${room}`])));
  });

  test('for every rule, the tests plant a file that violates it', () => {
    const planted = new Set(plants.map(([rule]) => rule));
    // The pairs of packages above already cover the rules between packages, so check only the other rules here.
    const others = rules
      .map(({ name }) => String(name))
      .filter((name) => !name.startsWith('room-'));
    expect(others.filter((name) => !planted.has(name))).toEqual([]);
  });

  test.each(plants)('the rule %s reports the planted file %s', (rule, file) => {
    expect(rulesBrokenBy(file)).toContain(rule);
  });

  test.each(innocents)('the imports of %s are allowed', (file) => {
    expect(rulesBrokenBy(file)).toEqual([]);
  });

  test('a violation is reported with the rule, both files and the reason', () => {
    expect(describeViolations(result)).toContain(
      'no-node-in-browser: packages/client/src/node.ts imports path. ' +
        'protocol, client and web run in a browser.',
    );
  });

  test('options, constructors and functions that need more than three functions are reported', () => {
    const reports = findCallbacks(folder);
    expect(reports).toEqual(
      ['ManyOptions', 'MoreOptions', 'PartOptions', 'Taker', 'Holder', 'tooMany'].map((name) =>
        expect.stringMatching(`packages/server/src/calls-back.ts needs 4 .* ${name},`),
      ),
    );
  });

  test('if dependency-cruiser reads nothing, each source file and each import between packages is reported', () => {
    const blind = { ...result, modules: [] };
    const spots = findBlindSpots(root, blind);
    expect(spots).toContain('Not read: packages/protocol/src/index.ts');
    expect(spots).toContain('Not seen: storage → protocol');
  });

  test('if dependency-cruiser finds files but no imports, the missing imports are reported', () => {
    const modules = result.modules.map((module) => ({ ...module, dependencies: [] }));
    expect(findBlindSpots(folder, { ...result, modules })).toContain(
      'Not seen: runtime → protocol',
    );
  });
});

function rulesBrokenBy(file: string): string[] {
  const broken = result.summary.violations.filter(({ from }) => from === `packages/${file}`);
  return broken.map((violation) => violation.rule.name);
}

function furnish(room: string): void {
  const packageFolder = join(folder, 'packages', room);
  const exports = { '.': './src/index.ts', './testing': './src/testing/index.ts' };
  const dependencies = { '@liminal/protocol': '*', zod: '*' };
  write(`${room}/package.json`, JSON.stringify({ exports, dependencies }));
  write(`${room}/src/index.ts`, 'export const a = 1;');
  write(`${room}/src/testing/index.ts`, 'export const b = 1;');
  link(packageFolder, `@liminal/${room}`);
}

function linkLibrary(name: string): void {
  link(join(root, 'node_modules', name), name);
}

function link(target: string, name: string): void {
  const place = join(folder, 'node_modules', name);
  mkdirSync(dirname(place), { recursive: true });
  symlinkSync(target, place);
}

function write(file: string, text: string): void {
  const place = join(folder, 'packages', file);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, `${text}\n`);
}
