/**
 * An HTTP proxy on loopback. Only the proxy can resolve the host names that a test uses, so every request that arrives
 * has gone through the proxy.
 */
import { once } from 'node:events';
import { createServer, request as requestHttp } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface TestProxy {
  readonly url: string;
  /**
   * The requests that the proxy has received, such as `CONNECT models.example:443` or `POST
   * http://models.example/v1/responses`.
   */
  readonly asked: string[];
  /** The header `Proxy-Authorization` of each request. */
  readonly logins: (string | undefined)[];
  close(): Promise<void>;
}

/**
 * @param ports - The port on loopback, by the host name.
 * @param refusal - If given, the proxy refuses every request with this status.
 */
export async function startProxy(
  ports: Record<string, number>,
  refusal?: number,
): Promise<TestProxy> {
  const asked: string[] = [];
  const logins: (string | undefined)[] = [];
  const server = createServer((incoming, answer) => {
    const { method = '', url = '', headers } = incoming;
    asked.push(`${method} ${url}`);
    logins.push(headers['proxy-authorization']);
    const target = URL.parse(url);
    const port = target === null ? undefined : ports[target.hostname];
    if (refusal !== undefined || target === null || port === undefined) {
      answer.writeHead(refusal ?? 502).end();
      return;
    }
    const path = `${target.pathname}${target.search}`;
    const to = { host: '127.0.0.1', port, method, path, headers, agent: false };
    const sent = requestHttp(to, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(answer);
    });
    answer.on('close', () => sent.destroy());
    sent.on('error', () => answer.destroy());
    incoming.pipe(sent);
  });
  server.on('connect', ({ url = '', headers }, client) => {
    asked.push(`CONNECT ${url}`);
    logins.push(headers['proxy-authorization']);
    const port = ports[url.split(':')[0] ?? ''];
    client.on('error', () => client.destroy());
    if (refusal !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${refusal ?? 502} Refused\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  // Track all sockets, because Node's server does not track the sockets of tunnels.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    logins,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
