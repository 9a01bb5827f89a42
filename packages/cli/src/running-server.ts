/** Requests that commands send to the server that runs on the data folder. */
import { serverOperations, SignInLink } from '@liminal/protocol';
import { errors } from './errors.ts';
import type { Config } from './config/load.ts';
import { findServer, type ServerFile } from './data/server-file.ts';
import { link } from './link.ts';

/** Time limit for a response, in ms. */
const responseTimeoutMs = 10_000;

type Server = Pick<ServerFile, 'url' | 'token'>;

/** Throws `NO_SERVER`. */
export async function runningServer({ dataDir, token }: Config): Promise<Server> {
  const running = await findServer(dataDir);
  if (running) return { url: running.url, token: token ?? running.token };
  throw errors.NO_SERVER.none(dataDir);
}

/** Returns a link that signs in one browser. The link works once. Throws a LiminalError with the server's message. */
export async function linkTo(server: Server): Promise<string> {
  const { code } = SignInLink.parse(await post(server, serverOperations.createSignInLink.path));
  return link(server.url, code);
}

export async function post({ url, token }: Server, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
    signal: AbortSignal.timeout(responseTimeoutMs),
  });
  if (response.ok) return response.json();
  throw errors.REFUSED.answered(url, response.status, path);
}
