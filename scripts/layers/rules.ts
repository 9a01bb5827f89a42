// The allowed imports between packages: the table of docs/architecture.md as rules for dependency-cruiser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser';
import { z } from 'zod';
import { root } from '../bootstrap/root.mjs';

const manifestSchema = z.object({ exports: z.record(z.string(), z.string()).default({}) });

/** Each package, with the packages that it may import. */
const rooms = {
  protocol: [],
  storage: ['protocol'],
  agents: ['protocol'],
  runtime: ['protocol', 'storage', 'agents'],
  server: ['protocol', 'runtime'],
  client: ['protocol'],
  web: ['protocol', 'client'],
  cli: ['protocol', 'storage', 'agents', 'runtime', 'server', 'client'],
  testkit: ['protocol'],
};

/**
 * Folders inside a package, by the folder that contains them. Each folder has a list of the sibling folders that it may
 * import. All of these folders may import the files next to them (contracts, errors, settings).
 */
const innerRooms: Record<string, { within: string; rooms: Record<string, string[]> }> = {
  runtime: {
    within: '^packages/runtime/src/',
    rooms: {
      blobs: [],
      git: [],
      files: ['blobs', 'git'],
      tracing: [],
      turn: ['blobs', 'tracing'],
      history: ['turn'],
      subscribers: ['tracing', 'turn', 'history'],
      session: ['blobs', 'tracing', 'turn', 'history', 'subscribers'],
      exports: ['blobs', 'history', 'session'],
      directory: ['blobs', 'files', 'turn', 'history', 'subscribers', 'session'],
      cluster: [
        'blobs',
        'files',
        'tracing',
        'turn',
        'history',
        'subscribers',
        'session',
        'directory',
      ],
    },
  },
  redis: {
    within: '^packages/storage/src/redis/',
    rooms: {
      connection: [],
      streams: ['connection'],
      log: ['connection', 'streams'],
      registry: ['connection', 'streams', 'log'],
      coordination: ['connection', 'streams'],
    },
  },
};

const testFiles = String.raw`\.test\.tsx?$`;
const testing = '/testing/';
const testkit = '^packages/testkit/';

/** Code that runs for a user, not for a test. */
const production = { path: '^packages/[^/]+/src/', pathNot: [testFiles, testing, testkit] };

/** The folders of `packages/agents/src`, each with the other folders that it may import. */
const agentRooms: Record<string, string[]> = {
  contract: [],
  process: [],
  base: ['contract', 'process'],
  kinds: ['contract', 'process', 'base'],
  own: ['contract', 'process', 'base'],
};

/**
 * Folders that contain adapters, one folder each. Adapters do not import each other; they may import the shared folders
 * in this list.
 */
const adapters: Record<string, string> = {
  'agents/src/kinds': '',
  'agents/src/own/makers': '',
  'storage/src': 'log|store|testing',
};

export const rules: IForbiddenRuleType[] = [
  ...Object.entries(rooms).map(roomRule),
  {
    name: 'known-rooms',
    comment: 'Add a new package to the table before the package imports anything.',
    severity: 'error',
    from: { path: `^packages/(?!(?:${Object.keys(rooms).join('|')})/)` },
    to: {},
  },
  {
    name: 'front-door',
    comment:
      'A package is imported only through the exports in its package.json, never by a path inside the package.',
    severity: 'error',
    from: { path: '^packages/([^/]+)/' },
    to: {
      path: '^packages/[^/]+/',
      pathNot: ['^packages/$1/', ...Object.keys(rooms).flatMap(doors)],
    },
  },
  {
    name: 'runtime-root-only',
    comment: 'The runtime depends on contracts, not on drivers or agents.',
    severity: 'error',
    from: { path: '^packages/runtime/src/', pathNot: [testFiles, testing] },
    to: {
      path: '^packages/(storage|agents)/',
      pathNot: String.raw`^packages/(storage|agents)/src/index\.ts$`,
    },
  },
  ...Object.entries(innerRooms).flatMap(innerRoomRules),
  {
    name: 'runtime-whole',
    comment: 'The folders of the runtime do not import the files that assemble the runtime.',
    severity: 'error',
    from: { path: '^packages/runtime/src/(?!cluster/)[^/]+/' },
    to: { path: '^packages/runtime/src/(runtime|create-runtime|index)[.]ts$' },
  },
  ...Object.entries(agentRooms).map(([room, allowed]): IForbiddenRuleType => ({
    name: `agents-${room}`,
    comment: `Within agents, ${room} may import ${allowed.join(', ') || 'no other folder'}.`,
    severity: 'error',
    from: { path: `^packages/agents/src/${room}/`, pathNot: [testFiles, testing] },
    to: {
      path: '^packages/agents/src/',
      pathNot: `^packages/agents/src/(${[room, ...allowed].join('|')})/`,
    },
  })),
  {
    name: 'agents-known',
    comment: 'Add a new folder of agents to the table before the folder imports anything.',
    severity: 'error',
    from: {
      path: `^packages/agents/src/(?!(?:${[...Object.keys(agentRooms), 'testing'].join('|')})/)[^/]+/`,
    },
    to: {},
  },
  ...Object.entries(adapters).map(([within, shared]): IForbiddenRuleType => ({
    name: 'adapters-apart',
    comment: 'An agent kind, a maker of models or a storage driver does not import its siblings.',
    severity: 'error',
    from: { path: `^packages/${within}/(?!(?:${shared || '-'})/)([^/]+)/` },
    to: { path: `^packages/${within}/(?!(?:${shared || '-'}|$1)/)[^/]+/` },
  })),
  {
    name: 'no-testing-in-production',
    comment: 'Code that a user runs does not import test code.',
    severity: 'error',
    from: production,
    to: { path: [testFiles, testing, testkit, '^packages/[^/]+/test/', 'node_modules/vitest/'] },
  },
  {
    name: 'no-node-in-browser',
    comment: 'protocol, client and web run in a browser.',
    severity: 'error',
    from: { path: '^packages/(protocol|client|web)/src/', pathNot: [testFiles, testing] },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'protocol-only-zod',
    comment: 'The protocol depends only on zod.',
    severity: 'error',
    from: { path: '^packages/protocol/src/', pathNot: [testFiles, testing] },
    to: { path: 'node_modules/', pathNot: 'node_modules/zod/' },
  },
  {
    name: 'declared',
    comment: 'A package declares all of its dependencies in its own package.json.',
    severity: 'error',
    from: production,
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'no-circles',
    comment: 'Files do not import each other in a circle, types included.',
    severity: 'error',
    from: { path: '^packages/' },
    to: { circular: true },
  },
  {
    name: 'resolvable',
    comment: 'An import that cannot be resolved cannot be checked.',
    severity: 'error',
    from: {},
    // Only imports within Liminal must resolve. An external package may contain only types, which only the compiler
    // resolves.
    to: { couldNotResolve: true, path: '^([.]|@liminal/)' },
  },
];

export const options: ICruiseOptions = {
  // Only this parser can read TypeScript when TypeScript 7 is installed; the cruiser's other parsers find no imports.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '^packages/.*/(dist|fixtures)/' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['import', 'node', 'default'],
    extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
  },
};

/** Returns the files that a package exports in its package.json. */
function doors(room: string): string[] {
  const file = join(root, 'packages', room, 'package.json');
  const { exports } = manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return Object.values(exports).map((path) => {
    return `^packages/${room}/${path.slice('./'.length).replaceAll('.', '[.]')}$`;
  });
}

function innerRoomRules([name, { within, rooms: inner }]: [
  string,
  (typeof innerRooms)[string],
]): IForbiddenRuleType[] {
  const severity = 'error';
  const each = Object.entries(inner).map(([room, allowed]): IForbiddenRuleType => ({
    name: `${name}-${room}`,
    comment: `Within ${name}, ${room} may import ${allowed.join(', ') || 'no other folder'}.`,
    severity,
    from: { path: `${within}${room}/`, pathNot: testFiles },
    to: { path: `${within}[^/]+/`, pathNot: `${within}(${[room, ...allowed].join('|')})/` },
  }));
  const known = {
    name: `${name}-known`,
    comment: `Add a new folder of ${name} to the table before the folder imports anything.`,
    severity,
    from: { path: `${within}(?!(?:${Object.keys(inner).join('|')})/)[^/]+/` },
    to: {},
  } as const;
  const doors = ['([^/]+)/', '[^/]+[.]ts$'].map((from): IForbiddenRuleType => ({
    name: `${name}-doors`,
    comment:
      'A folder inside a package is imported only through its index.ts, which describes the folder.',
    severity,
    from: { path: `${within}${from}`, pathNot: testFiles },
    to: {
      path: `${within}[^/]+/(?!index[.]ts$)`,
      pathNot: from.startsWith('(') ? `${within}$1/` : [],
    },
  }));
  return [...each, known, ...doors];
}

function roomRule([room, allowed]: [string, string[]]): IForbiddenRuleType {
  const reachable = [room, ...allowed].join('|');
  return {
    name: `room-${room}`,
    comment: `${room} may import ${allowed.join(', ') || 'no other package'}.`,
    severity: 'error',
    from: { path: `^packages/${room}/src/`, pathNot: [testFiles, testing] },
    to: { path: '^packages/', pathNot: `^packages/(${reachable})/` },
  };
}
