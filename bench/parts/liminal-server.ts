import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { Measured } from './process.ts';

const main = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));

export interface LiminalServer {
  process: Measured;
  connection: Connection;
}

/** The server as people run it, on a data folder, with an environment of its own. */
export async function startLiminalServer(
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Promise<LiminalServer> {
  const args = [main, 'serve', '--port', '0', '--no-open', '--data', dataDir];
  const process = await Measured.start(args, env);
  const link = new URL(/http\S+/.exec(process.firstLine)?.[0] ?? '');
  return { process, connection: new Connection(link.origin, link.searchParams.get('token') ?? '') };
}
