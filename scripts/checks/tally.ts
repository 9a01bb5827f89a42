/** How many checks and tests passed, and how many failed. */
export type Tally = { readonly passed: number; readonly failed: number };

export const none: Tally = { passed: 0, failed: 0 };

export function add(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed };
}

/** Returns the last line of a run. */
export function summary({ passed, failed }: Tally): string {
  return `${passed} passed, ${failed} failed`;
}
