import { thrownMessage } from '@liminal/protocol';
import type { AgentDriver } from '../contract/driver.ts';
import { errors, ProviderError } from '../contract/errors.ts';
import type { StoredFork } from '../contract/provider.ts';

/**
 * Calls the driver's `fork`. Throws `NOT_SUPPORTED`. An unknown error becomes `SESSION_CREATE_FAILED`, with the reason
 * of the unknown error.
 */
export async function forkStored(
  driver: AgentDriver,
  ...asked: Parameters<NonNullable<AgentDriver['fork']>>
): Promise<StoredFork> {
  if (!driver.fork) throw errors.NOT_SUPPORTED.fork(driver.name);
  try {
    return await driver.fork(...asked);
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const why = thrownMessage(error);
    throw errors.SESSION_CREATE_FAILED.notForked(driver.name, why, { cause: error });
  }
}
