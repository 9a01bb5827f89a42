import type { OpenedStorage } from '@liminal/storage';
import type { Storage } from './history/index.ts';
import type { RuntimeSettings } from './settings.ts';

/** Returns the archive for events of finished runs; empty unless the settings ask for it and the storage has one. */
export function enabledArchive(
  { eventArchive: archive }: Pick<OpenedStorage, 'eventArchive'>,
  settings: Partial<RuntimeSettings> = {},
): Pick<Storage, 'enabledArchive'> {
  return settings.keepEvents === true && archive ? { enabledArchive: archive } : {};
}
