import { defineConfig } from 'vitest/config';
import { areas } from './areas.ts';

const area = areas[process.env['MUTANTS_AREA'] ?? ''];

/** The tests that run on an area's mutants. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    setupFiles: ['test/property-seed.ts'],
    include: area?.tests ?? [],
    // These tests measure time, of which a mutated program takes more.
    exclude: ['**/big-*.test.ts', '**/*.long.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
