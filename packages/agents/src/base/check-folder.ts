import { stat } from 'node:fs/promises';
import { ProviderError } from '../errors.ts';

/** Throws ProviderError `SESSION_CREATE_FAILED` if the project folder is missing: agents report that in odd ways. */
export async function checkFolder(projectDir: string): Promise<void> {
  const found = await stat(projectDir).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  const problem = found === undefined ? 'does not exist' : 'is not a folder';
  const message = `The project folder ${projectDir} ${problem}.`;
  throw new ProviderError('SESSION_CREATE_FAILED', message);
}
