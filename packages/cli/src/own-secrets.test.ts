import { expect, test } from 'vitest';
import { loadConfig } from './config/load.ts';
import { ownSecrets } from './own-secrets.ts';

const secretsOf = (env: NodeJS.ProcessEnv) =>
  ownSecrets(loadConfig({}, { env, home: '/nowhere', cwd: '/nowhere' }), env);

const redis = 'redis://127.0.0.1:1';
const database = 'postgres://127.0.0.1:1/x';

test.each([
  ['the URL of a Redis', 'redis://me:p%40ss%2Fword@127.0.0.1:1', database],
  ['each URL of a Redis Cluster', `rediss://127.0.0.1:1,rediss://:p%40ss%2Fword@b:1`, database],
  ['a database’s URL', redis, 'postgres://me:p%40ss%2Fword@127.0.0.1:1/x'],
  ['the query of a URL', redis, `${database}?user=me&password=p%40ss%2Fword`],
  ['a Convex deployment’s URL', redis, 'https://127.0.0.1:1/?a=b&key=p%40ss%2Fword'],
])('SAFE: the password in %s is known as written and decoded', (_, redisUrl, url) => {
  const secrets = secretsOf({
    LIMINAL_REDIS_URL: redisUrl,
    LIMINAL_DATABASE_URL: url,
    LIMINAL_DATABASE_SECRET: 'hush-convex',
  });
  expect([...secrets].sort()).toEqual(['hush-convex', 'p%40ss%2Fword', 'p@ss/word']);
});

test('SAFE: a password that only looks percent-encoded is also hidden as written', () => {
  const secrets = secretsOf({
    LIMINAL_REDIS_URL: 'redis://:50%off@127.0.0.1:1',
    LIMINAL_DATABASE_URL: database,
  });
  expect([...secrets]).toEqual(['50%off']);
});

test('SAFE: the token, keys of models, and values of variables with secret names are hidden', () => {
  const secrets = secretsOf({
    LIMINAL_TOKEN: 'hush-token',
    OPENAI_API_KEY: ' hush-openai ',
    MY_PASSWORD: 'hush-mine',
    EMPTY_SECRET: ' ',
    PATH: '/bin',
  });
  expect([...secrets].sort()).toEqual(['hush-mine', 'hush-openai', 'hush-token']);
});
