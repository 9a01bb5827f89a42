import type { z } from 'zod';
import { describeIssues, errors } from '../errors.ts';

/**
 * Returns the value of the first candidate that is set. An error about the value contains the name of the flag,
 * variable or field. Throws `ConfigError`.
 */
export function choose<T>(
  schema: z.ZodType<T>,
  ...candidates: [name: string, value: string | undefined][]
): T | undefined {
  const found = candidates.find(([, value]) => value !== undefined);
  if (!found) return undefined;
  const parsed = schema.safeParse(found[1]);
  if (parsed.success) return parsed.data;
  throw errors.INVALID_CONFIG.value(found[0], describeIssues(parsed.error));
}
