/** Checks the Host header, as protection against DNS rebinding. */
import type { FastifyRequest } from 'fastify';

const hostHeader = /^(?<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?<port>\d{1,5}))?$/;
const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

export interface HostOptions {
  /** The host on which the server listens. */
  host: string;
  /**
   * Additional host names that clients may use, because of proxies and forwarded ports: `name` (on any port) or
   * `name:port`.
   */
  allowedHosts: readonly string[];
}

/** Whether only programs on this machine can reach a server on this host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether a request's Host header is valid: one of this server's own names with the server's port, or an allowed name.
 */
export function isHostAllowed(request: FastifyRequest, options: HostOptions): boolean {
  const header = request.headers.host?.toLowerCase() ?? '';
  if (namesAnotherHost(request, header)) return false;
  const { name, port = '80' } = hostHeader.exec(header)?.groups ?? {};
  if (name === undefined) return false;
  if (options.allowedHosts.some((each) => each === name || each === `${name}:${port}`)) return true;
  return ownNames(request, options).includes(name) && Number(port) === localPort(request);
}

/** Returns the port of a request's connection. Without a socket the port is 80, which addresses omit. */
export function localPort(request: FastifyRequest): number {
  return request.raw.socket.localPort ?? 80;
}

/** Whether a request has a second Host header, or an absolute address (`GET http://name/path`), with another host. */
function namesAnotherHost({ raw }: FastifyRequest, host: string): boolean {
  const [, authority] = /^[a-z]+:\/\/([^/?#]*)/i.exec(raw.url ?? '') ?? [];
  const names = raw.rawHeaders.filter(
    (_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host',
  );
  return [...names, authority ?? host].some((name) => name.toLowerCase() !== host);
}

function ownNames(request: FastifyRequest, { host }: HostOptions): string[] {
  if (isLoopback(host)) return [...loopbackNames, host];
  // If the Host header is the local address of the connection, the client was not misled by the name of another host
  // (DNS rebinding).
  const address = request.raw.socket.localAddress?.replace(/^::ffff:/, '') ?? '';
  return [...loopbackNames, host, address.includes(':') ? `[${address}]` : address];
}
