import type { Stryker } from '@stryker-mutator/core';

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const killed = new Set<MutantResult['status']>(['Killed', 'Timeout']);
const survived = new Set<MutantResult['status']>(['Survived', 'NoCoverage']);

/** Returns the share of mutants that tests killed, as a sentence. Mutants that were not tried do not count. */
export function scoreOf(statuses: readonly MutantResult['status'][]): string {
  const dead = statuses.filter((one) => killed.has(one)).length;
  const all = dead + statuses.filter((one) => survived.has(one)).length;
  return all === 0 ? 'no mutants' : `${((100 * dead) / all).toFixed(1)} % (${dead} of ${all})`;
}
