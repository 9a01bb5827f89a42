/**
 * Chooses the proxy of a request from the environment's variables. One function decides for all requests, because
 * Node's HTTP client, undici and `liminal doctor` must agree. The variables are the same as in curl and undici.
 */
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { hideUrlSecrets } from '@liminal/protocol';
import ipaddr from 'ipaddr.js';

/** Returns the proxy for a request. */
export interface Proxy {
  url: URL;
  /** The environment variable that contains the proxy's address. */
  variable: string;
}

/**
 * The way in which a request is sent: through a proxy, directly (with the reason), or not at all because a variable is
 * invalid.
 */
export type Way =
  | { kind: 'proxy'; proxy: Proxy }
  | { kind: 'direct'; reason: 'no proxy is set' | 'this machine' | 'NO_PROXY' }
  | { kind: 'unusable'; problem: string };

/**
 * The variables, in order of precedence. As in undici, a proxy for http is also used for https if there is no proxy for
 * https.
 */
const variables: Record<string, readonly string[]> = {
  'http:': ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY', 'http_proxy', 'HTTP_PROXY'],
};

/** Returns the way in which a request to this http or https address is sent. */
export function wayTo(address: URL, env: NodeJS.ProcessEnv = process.env): Way {
  const variable = variables[protocolOf(address)]?.find((name) => valueIn(env, name) !== '');
  if (variable === undefined) return { kind: 'direct', reason: 'no proxy is set' };
  const host = hostOf(address);
  if (isOwn(host)) return { kind: 'direct', reason: 'this machine' };
  const exceptions = valueIn(env, 'no_proxy') || valueIn(env, 'NO_PROXY');
  if (isExcepted(host, portOf(address), exceptions)) return { kind: 'direct', reason: 'NO_PROXY' };
  const url = proxyIn(valueIn(env, variable));
  if (url !== undefined) return { kind: 'proxy', proxy: { url, variable } };
  const problem = `${variable} must be the address of an HTTP proxy, such as http://proxy.example:3128. SOCKS proxies are not supported.`;
  return { kind: 'unusable', problem };
}

/** Returns a proxy's address without its password, for people. */
export const shownProxy = ({ url, variable }: Proxy): string =>
  `${hideUrlSecrets(url.href).replace(/\/$/, '')} of ${variable}`;

/** Returns whether any of the proxies' variables is set. */
export const hasProxies = (env: NodeJS.ProcessEnv = process.env): boolean =>
  Object.values(variables).some((names) => names.some((name) => valueIn(env, name) !== ''));

/**
 * Returns the part of an error message that mentions the proxy: ` through the proxy …`, or an empty text if the request
 * is sent directly.
 */
export function throughProxy(address: string | URL): string {
  const url = URL.parse(String(address));
  const way = url === null ? undefined : wayTo(url);
  if (way?.kind === 'unusable') return ` (${way.problem})`;
  return way?.kind === 'proxy' ? ` through the proxy ${shownProxy(way.proxy)}` : '';
}

/**
 * If a proxy has responded instead of the server, returns the proxy's response from the request's error; undefined for
 * any other error.
 */
export function refusalOfProxy(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const [, status] = refusals.map((pattern) => pattern.exec(at.message)).find(Boolean) ?? [];
    if (status === '407') return 'the proxy requires another user name and password';
    if (status !== undefined) return `the proxy answered with status ${status}`;
  }
  return undefined;
}

/**
 * The messages with which undici (for a tunnel, for a plain request) and Node's HTTP client report a proxy's response.
 */
const refusals = [
  /^Proxy response \((\d+)\)/,
  /^Proxy Authentication Required \((407)\)/,
  /^Failed to establish tunnel to .* HTTP\/1\.\d (\d+)/,
];

const valueIn = (env: NodeJS.ProcessEnv, name: string): string => env[name]?.trim() ?? '';

const protocolOf = ({ protocol }: URL): string => protocol.replace(/^ws/, 'http');

/** Returns the host without brackets, and without the dot at the end of a fully qualified name. */
const hostOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[|\]$/g, '').replace(/(?<=.)\.$/, '');

const portOf = (address: URL): number =>
  Number(address.port) || (protocolOf(address) === 'https:' ? 443 : 80);

function proxyIn(text: string): URL | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  return isHttp && url.hostname !== '' ? url : undefined;
}

/**
 * Returns whether a host's name or address belongs to this machine. A proxy would connect to its own machine instead.
 */
function isOwn(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (!ipaddr.isValid(host)) return false;
  const address = ipaddr.process(host);
  if (['loopback', 'unspecified'].includes(address.range())) return true;
  return Object.values(networkInterfaces())
    .flatMap((one = []) => one)
    .some((one) => ipaddr.process(one.address).toString() === address.toString());
}

/**
 * Returns whether NO_PROXY contains the host: as a name (which includes its subdomains), as an address or as a CIDR
 * range, each with or without a port, or as `*`.
 */
function isExcepted(host: string, port: number, exceptions: string): boolean {
  return exceptions
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => covers(entry.toLowerCase(), host, port));
}

function covers(entry: string, host: string, port: number): boolean {
  const [, name = entry, ownPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (ownPort !== undefined && Number(ownPort) !== port) return false;
  const plain = name.replace(/^\[|\]$/g, '').replace(/(?<=.)\.$/, '');
  if (plain === '*') return true;
  if (isIP(host) !== 0) return coversAddress(plain, host);
  const suffix = plain.replace(/^\*?\./, '');
  return (host === suffix && !plain.startsWith('*')) || host.endsWith(`.${suffix}`);
}

function coversAddress(entry: string, host: string): boolean {
  const [net = '', bits] = entry.split('/');
  const family = isIP(net);
  if (family === 0 || family !== isIP(host)) return false;
  const length = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(net, length, type);
  return list.check(host, type);
}
