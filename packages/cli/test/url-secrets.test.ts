import { partOf } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.close());

// No server listens on this port.
const redis = 'redis://me:hush-redis@127.0.0.1:1';
const shared = {
  PostgreSQL: {
    LIMINAL_REDIS_URL: redis,
    LIMINAL_DATABASE_URL: 'postgresql://me:hush-pg@127.0.0.1:1/x',
  },
  'a Redis Cluster, and PostgreSQL with a query': {
    LIMINAL_REDIS_URL: 'rediss://:hush-tls@127.0.0.1:1,rediss://:hush-two@127.0.0.1:2',
    LIMINAL_DATABASE_URL: 'postgres://127.0.0.1:1/x?user=me&password=hush-query',
  },
  Convex: { LIMINAL_REDIS_URL: redis, LIMINAL_DATABASE_URL: 'http://me:hush-web@127.0.0.1:1/' },
  'Convex with a key': {
    LIMINAL_REDIS_URL: redis,
    LIMINAL_DATABASE_URL: 'https://127.0.0.1:1/?key=prod:cat-1|hush-0123456789abcdef',
  },
};

// The protocol's `url-secrets.test.ts` covers all kinds.
test.each(partOf(shared, ['PostgreSQL', 'Convex with a key']))(
  'SAFE: neither doctor nor a starting server shows the secrets in the URLs of %s',
  async (_, urls) => {
    const env = { ...urls, LIMINAL_DATABASE_SECRET: 'hush-convex' };
    const doctor = home.start(['doctor'], env);
    expect(await doctor.exitCode).toBe(1);
    const serve = home.start(['serve', '--port', '0', '--no-open'], env);
    expect(await serve.exitCode).toBe(1);
    for (const { stdout, stderr } of [doctor, serve]) {
      expect(stdout + stderr).toContain('127.0.0.1:1');
      expect(stdout + stderr).not.toContain('hush');
    }
  },
);
