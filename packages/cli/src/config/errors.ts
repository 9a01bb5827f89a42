import { LiminalError } from '@liminal/protocol';
import type { z } from 'zod';

/** The configuration or command line cannot be understood; the message names the flag, variable or file and field. */
export class ConfigError extends LiminalError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('INVALID_CONFIG', message, options);
  }
}

/** Names each wrong field and what is wrong with it. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => {
      const problem = describeProblem(issue);
      return issue.path.length === 0 ? problem : `"${issue.path.join('.')}": ${problem}`;
    })
    .join('; ');
}

/** For a key, the problem behind it says more than that the key is wrong. */
function describeProblem(issue: z.core.$ZodIssue): string {
  const inner = issue.code === 'invalid_key' ? issue.issues[0] : undefined;
  return inner?.message ?? issue.message;
}
