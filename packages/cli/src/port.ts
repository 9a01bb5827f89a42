import { once } from 'node:events';
import { createServer } from 'node:net';
import { LiminalError } from '@liminal/protocol';

/** How many ports after the default port are tried. */
const tries = 20;

export interface PortWish {
  host: string;
  port: number;
  /** Whether no other port than this one is acceptable. */
  portChosen: boolean;
}

/**
 * Returns a free port. This is the wanted port; if that port is in use and the user did not choose it, the next free
 * port. Throws `PORT_IN_USE`, `HOST_UNUSABLE`.
 */
export async function findPort({ host, port, portChosen }: PortWish): Promise<number> {
  const last = portChosen ? port : port + tries;
  for (let candidate = port; candidate <= last; candidate += 1) {
    if (await isFree(host, candidate)) return candidate;
  }
  throw new LiminalError(
    'PORT_IN_USE',
    portChosen
      ? `Another program uses port ${port}. Stop it, or choose another port with --port.`
      : `The ports ${port} to ${last} are all in use. Choose another one with --port.`,
  );
}

export async function isFree(host: string, port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, 'listening');
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) {
      if (cause.code === 'EADDRINUSE') return false;
      if (cause.code === 'EACCES') throw unusable(`port ${port} needs administrator rights`, cause);
      throw unusable(`${host} is not an address of this machine (${String(cause.code)})`, cause);
    }
    throw cause;
  } finally {
    probe.close();
  }
}

function unusable(why: string, cause: Error): LiminalError {
  return new LiminalError('HOST_UNUSABLE', `The server cannot listen: ${why}.`, { cause });
}
