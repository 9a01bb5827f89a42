import type { OpenedStorage } from '@liminal/storage';
import type { Storage } from './history/index.ts';
import type { RuntimeSettings } from './settings.ts';

/** Where events of finished runs are kept, if the settings say so and the storage can. */
export function keeping(
  { archive }: Pick<OpenedStorage, 'archive'>,
  settings: Partial<RuntimeSettings> = {},
): Pick<Storage, 'keeps'> {
  return settings.keepEvents === true && archive ? { keeps: archive } : {};
}
