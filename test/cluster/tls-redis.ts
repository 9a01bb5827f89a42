import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { testRedis, type TestRedis } from '@liminal/testkit';

/** A Redis that clients reach through TLS, like the Redis of a hosting service. */
export interface TlsRedis extends TestRedis {
  /** The file that contains the certificate of the authority. No trust store contains this authority. */
  readonly authority: string;
}

export async function tlsRedis(): Promise<TlsRedis> {
  const redis = await testRedis();
  const folder = mkdtempSync(join(tmpdir(), 'liminal-tls-'));
  const [authority, keyFile] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', keyFile, '-out', authority];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...kind, ...name, ...files], {
    stdio: 'ignore',
  });
  const [key, cert] = [readFileSync(keyFile), readFileSync(authority)];
  const { hostname, port } = new URL(redis.url);
  const proxy = createServer({ key, cert }, (socket) => {
    const onward = connect(Number(port), hostname);
    for (const [from, to] of [[socket, onward] as const, [onward, socket] as const]) {
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  proxy.listen(0, 'localhost');
  await once(proxy, 'listening');
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `rediss://localhost:${address.port}`,
    authority,
    newPrefix: redis.newPrefix,
    release: async () => {
      proxy.close();
      await redis.release();
      rmSync(folder, { recursive: true });
    },
  };
}
