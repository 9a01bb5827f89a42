import { ModelError } from './model-error.ts';

/** Returns the secrets of a server: its key, and each header value that is long enough to be a secret. */
export const secretsOf = (apiKey = '', headers: Record<string, string> = {}): string[] =>
  [apiKey, ...Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ /, '')])]
    .filter((value) => value === apiKey || value.length >= shortest)
    .filter((value) => value !== '')
    // Replace the longest secret first, because one secret may be the beginning of another secret.
    .toSorted((a, b) => b.length - a.length);

const shortest = 8;

/**
 * Returns the error without the secrets that the server's message repeats.
 * @param mark - The text that replaces each secret.
 */
export function withoutSecrets(
  error: ModelError,
  secrets: readonly string[],
  mark: string,
): ModelError {
  const serialized = `${error.message} ${JSON.stringify(error.details) ?? ''}`;
  if (!secrets.some((secret) => serialized.includes(secret))) return error;
  const { code, isPassing, retryAfterMs } = error;
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, mark), error.message);
  return new ModelError(code, message, { isPassing, retryAfterMs });
}
