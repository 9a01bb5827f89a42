import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { areas } from './areas.ts';

const area = areas[process.env['MUTANTS_AREA'] ?? ''];

/**
 * Sorts the quickest tests first, because the first failure ends the run for a mutant. By default, Vitest runs the
 * longest tests first.
 */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toReversed();
  }
}

/** The configuration of the tests that run on an area's mutants. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    sequence: { sequencer: QuickestFirst },
    setupFiles: ['test/property-seed.ts'],
    include: area?.tests ?? [],
    // Leave out the tests that measure time, because a mutated program is slower.
    exclude: ['**/big-*.test.ts', '**/*.long.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
