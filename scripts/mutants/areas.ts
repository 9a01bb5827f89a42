/** A part of the program that is mutated and scored separately. */
export interface Area {
  files: string[];
  /**
   * The tests that must notice mutants. Each test is in the same package as the files, and imports the files directly:
   * code in other packages, processes and threads would run the files without mutants.
   */
  tests: string[];
}

const clusterRuntime = 'packages/runtime/src/cluster/cluster-runtime.ts';
const exports = 'packages/protocol/src/exports/*.ts';
const secrets = 'packages/protocol/src/{secrets/*,url-secrets}.ts';

export const areas: Readonly<Record<string, Area>> = {
  protocol: {
    files: ['packages/protocol/src/**/*.ts', `!${exports}`, `!${secrets}`],
    tests: ['packages/protocol/src/**/*.test.ts'],
  },
  translators: {
    files: ['packages/agents/src/kinds/{acp,claude-code}/translate/**/*.ts'],
    tests: ['packages/agents/src/kinds/{acp,claude-code}/translate/**/*.test.ts'],
  },
  /** The tool loop of bare models. */
  loop: {
    files: ['packages/agents/src/own/loop/*.ts'],
    tests: [
      'packages/agents/src/own/loop/*.test.ts',
      'packages/agents/test/models/*.test.ts',
      // These tests send floods and hundreds of calls. On a busy machine, the mutated loop is slower than their time
      // limits allow.
      '!packages/agents/test/models/{hostile-mcp,hostile-model-server,many-calls}.test.ts',
    ],
  },
  /** The classes of a server in a cluster, each tested by itself. */
  cluster: {
    files: ['packages/runtime/src/cluster/*.ts', `!${clusterRuntime}`],
    tests: [
      'packages/runtime/src/cluster/*.test.ts',
      'packages/runtime/test/cluster/{followed-session,followed-sessions,messenger}.test.ts',
    ],
  },
  /**
   * `ClusterRuntime`, which joins the classes of the area `cluster`. The tests start whole servers, and take a hundred
   * times as long.
   */
  servers: {
    files: [clusterRuntime],
    tests: [
      'packages/runtime/src/cluster/cluster-runtime.test.ts',
      'packages/runtime/test/cluster/*.test.ts',
    ],
  },
  exports: {
    files: [exports, 'packages/runtime/src/exports/*.ts'],
    tests: ['packages/protocol/src/exports/*.test.ts', 'packages/runtime/test/exports.test.ts'],
  },
  secrets: {
    files: [
      secrets,
      'packages/agents/src/own/loop/hide-secrets.ts',
      // The tests of `exposed-secrets.ts` run the file in other processes, which have no mutants, so the file is left
      // out.
      'packages/cli/src/own-secrets.ts',
    ],
    tests: [
      'packages/protocol/src/{secrets/*,url-secrets}.test.ts',
      'packages/agents/src/own/loop/hide-secrets.test.ts',
      'packages/cli/src/own-secrets.test.ts',
    ],
  },
  /** The ACP agent that editors start. */
  editors: {
    files: ['packages/server/src/acp/**/*.ts'],
    tests: [
      'packages/server/src/acp/**/*.test.ts',
      'packages/server/test/{acp,editor}/*.test.ts',
      // These tests cover ACP over HTTP, with and without browsers, and the memory that ACP messages use.
      'packages/server/test/{held-bytes,signed-out}.test.ts',
    ],
  },
};
