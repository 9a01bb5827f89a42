import { LiminalError } from '@liminal/protocol';
import type { z } from 'zod';

/** What was asked for cannot be understood; the message names the flag, variable or file and field. */
export class ConfigError extends LiminalError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('INVALID_CONFIG', message, options);
  }
}

/** Names each wrong field and what is wrong with it. */
export function describeIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `"${path.join('.')}": ${message}`))
    .join('; ');
}
