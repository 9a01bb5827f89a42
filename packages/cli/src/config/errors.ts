import { LiminalError } from '@liminal/protocol';
import type { z } from 'zod';

/** Invalid configuration or command line; the message contains the flag, the variable, or the file and the field. */
export class ConfigError extends LiminalError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('INVALID_CONFIG', message, options);
  }
}

/** Lists each wrong field with its problem. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => {
      const problem = describeProblem(issue);
      return issue.path.length === 0 ? problem : `"${issue.path.join('.')}": ${problem}`;
    })
    .join('; ');
}

/** If a key is invalid, the inner issue describes the problem more precisely. */
function describeProblem(issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
  return inner?.message ?? issue.message;
}
