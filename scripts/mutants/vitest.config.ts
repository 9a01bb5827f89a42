import { defineConfig } from 'vitest/config';

/** The tests that mutants of the protocol and of the translators meet: quick ones, which start nothing. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    setupFiles: ['test/property-seed.ts'],
    include: [
      'packages/protocol/src/**/*.test.ts',
      'packages/agents/src/{acp,claude-code}/translate/**/*.test.ts',
    ],
    // They measure time, which a mutated program takes more of.
    exclude: ['**/big-*.test.ts'],
    testTimeout: 20_000,
  },
});
