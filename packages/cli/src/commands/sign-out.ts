import { serverOperations } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { findServer } from '../data/server-file.ts';
import { openSignedOut } from '../data/signed-out.ts';
import { usingDataDir } from '../data/using-data-dir.ts';
import { post } from '../running-server.ts';

/** Signs out every browser. The command works with and without a running server. */
export async function signOut(config: Config): Promise<number> {
  const { dataDir } = config;
  const running = await findServer(dataDir);
  if (running) await post(running, serverOperations.signOut.path, { everywhere: true });
  else await usingDataDir(dataDir, () => openSignedOut(dataDir).addAll());
  console.log('Every browser is signed out. “./liminal link” prints a link to sign in again.');
  return 0;
}
