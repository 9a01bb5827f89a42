import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { options, rules } from './rules.ts';

/** Reads all packages below a folder, and checks their imports by the rules. */
export async function cruisePackages(baseDir: string): Promise<ICruiseResult> {
  const { output } = await cruise(['packages'], {
    ...options,
    baseDir,
    ruleSet: { forbidden: rules },
    validate: true,
  });
  if (typeof output === 'string')
    throw new Error(`dependency-cruiser did not print a result, but: ${output}`);
  return output;
}
