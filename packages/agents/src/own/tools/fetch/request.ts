/** Makes one GET request to an address on the public internet, after checking the address. */
import { lookup as systemLookup } from 'node:dns/promises';
import { type Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { once } from 'node:events';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { hideUrlSecrets, thrownMessage } from '@liminal/protocol';
import { proxyAgentFor, refusalOfProxy, throughProxy } from '../../proxy/index.ts';
import { ToolError } from '../tool-error.ts';
import { isPublicAddress } from './public-address.ts';

export interface RequestOptions {
  /** For tests: which addresses may be reached, and how names are resolved. */
  mayReach?: (address: string) => boolean;
  lookup?: (host: string) => Promise<string[]>;
}

export interface FetchResponse {
  status: number;
  /** The address to which the response redirects; undefined if it does not redirect. */
  location: string | undefined;
  contentType: string;
  body: Buffer;
  /** Whether the response was longer than the part that was read. */
  isCut: boolean;
}

/** The largest response, in bytes, unpacked. */
const maxBytes = 5 * 1024 * 1024;

/** Parses a URL. The URL may be relative to a page. Throws ToolError for a URL that may not be requested. */
export function webAddress(text: string, page?: URL): URL {
  const url = URL.parse(text, page?.href);
  if (url === null)
    throw new ToolError(`“${text}” is not an address: give an address that begins with https://.`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ToolError('Only addresses that begin with https:// or http:// can be fetched.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ToolError('An address with a user name or password is not fetched.');
  }
  return url;
}

/** Makes one request, without following redirects. Rejects with ToolError. */
export async function get(
  url: URL,
  signal: AbortSignal,
  options: RequestOptions = {},
): Promise<FetchResponse> {
  const { mayReach = isPublicAddress, lookup = lookUp } = options;
  try {
    const agent = proxyAgentFor(url);
    if (agent !== undefined) {
      await untilAborted(checkForProxy(url, mayReach, lookup), signal);
      return await receive(url, { agent }, signal);
    }
    const address = await untilAborted(checkedAddress(url, mayReach, lookup), signal);
    return await receive(url, { address, mayReach }, signal);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    if (signal.aborted) throw new ToolError(`${url.host} took too long, or the call was stopped.`);
    const why = refusalOfProxy(error) ?? hideUrlSecrets(thrownMessage(error));
    throw new ToolError(`${url.host} could not be reached${throughProxy(url)}: ${why}`, {
      cause: error,
    });
  }
}

const notPublicError = (host: string): ToolError =>
  new ToolError(
    `${host} is on this machine or in its network, or is not an ordinary address: only the public internet can be fetched.`,
  );

/**
 * Resolves a name once, and returns the checked address to connect to, so that a later, different answer has no effect.
 */
async function checkedAddress(
  { hostname, host }: URL,
  mayReach: (address: string) => boolean,
  lookup: (host: string) => Promise<string[]>,
): Promise<string> {
  const literal = hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(literal) ? [literal] : await lookup(hostname);
  // If one address of the name is not public, the name is rejected.
  if (addresses[0] === undefined || !addresses.every(mayReach)) throw notPublicError(host);
  return addresses[0];
}

/**
 * Returns whether names of this form exist only in private networks (RFC 6761, RFC 6762, RFC 8375, and ICANN's
 * `internal`).
 */
const isOfNetwork = (host: string): boolean =>
  !host.includes('.') || /\.(local|internal|intranet|private|corp|home|lan|home\.arpa)$/.test(host);

/**
 * Does the check of `checkedAddress` before a request to a proxy, which resolves the host's name itself. If all
 * connections need the proxy, Liminal cannot resolve most names. If it can resolve the name, all addresses of the name
 * must be public.
 */
async function checkForProxy(
  { hostname, host }: URL,
  mayReach: (address: string) => boolean,
  lookup: (host: string) => Promise<string[]>,
): Promise<void> {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) === 0 && isOfNetwork(hostname.replace(/\.$/, ''))) throw notPublicError(host);
  const addresses = isIP(literal) ? [literal] : await lookup(hostname).catch(() => []);
  if (!addresses.every(mayReach)) throw notPublicError(host);
}

/** Resolves with the result of `work`; rejects with the signal's reason when the signal aborts. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function lookUp(host: string): Promise<string[]> {
  const found = await systemLookup(host, { all: true });
  return found.map(({ address }) => address);
}

/** How a request is connected: to its checked address, or through a proxy. */
type Connection =
  | { address: string; mayReach: (address: string) => boolean }
  | { agent: HttpAgent };

async function receive(
  url: URL,
  connection: Connection,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, {
    ...('agent' in connection ? connection : { agent: false, lookup: to(connection.address) }),
    signal,
    headers: {
      accept: 'text/html, text/*, application/json, */*;q=0.5',
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'liminal',
    },
  });
  try {
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if ('address' in connection && !connection.mayReach(response.socket.remoteAddress ?? ''))
      throw notPublicError(url.host);
    const { headers, statusCode: status = 0 } = response;
    const isRedirect = [301, 302, 303, 307, 308].includes(status);
    const { body, isCut } = await bodyOf(response);
    return {
      status,
      location: isRedirect ? headers.location : undefined,
      contentType: headers['content-type'] ?? '',
      body,
      isCut,
    };
  } finally {
    request.destroy();
  }
}

/** A lookup function that returns only the address that was checked. */
const to =
  (address: string): LookupFunction =>
  (_host, { all }, done) => {
    const family = isIP(address);
    if (all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };

const unpackers: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

async function bodyOf(response: IncomingMessage): Promise<{ body: Buffer; isCut: boolean }> {
  const encoding = response.headers['content-encoding'] ?? 'identity';
  const unpack = unpackers[encoding.toLowerCase()];
  if (unpack === undefined && encoding !== 'identity') {
    throw new ToolError(`The answer has an unknown content encoding (${encoding}).`);
  }
  // If the pipeline fails, the loop below throws the same error.
  const stream = unpack === undefined ? response : pipeline(response, unpack(), () => {});
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: length > maxBytes };
}
