import { describe, expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { ConfigFile } from './file.ts';
import { sharedConfig } from './shared.ts';

const redis = 'redis://:secret@redis.example:6379/1';
const postgres = 'postgresql://liminal:secret@db.example/liminal';
const convex = 'https://happy-animal-123.convex.cloud';

const shared = (env: Record<string, string>, file: unknown = {}) =>
  sharedConfig(ConfigFile.parse(file), (name) => env[name]);

test('without shared settings there is no shared storage', () => {
  expect(shared({})).toBeUndefined();
});

test('several servers share a Redis and a database, and variables override the file', () => {
  const file = { redisUrl: 'redis://other', databaseUrl: postgres, redisPrefix: 'team' };
  expect(shared({ LIMINAL_REDIS_URL: redis }, file)).toEqual({
    redisUrl: redis,
    databaseUrl: postgres,
    redisPrefix: 'team',
    databaseSchema: 'liminal',
    databaseSecret: undefined,
  });
});

test('nodes of a Redis Cluster are separated by commas, and a password may contain commas', () => {
  const nodes = `redis://:se,cret@a.example:7000, ${redis},rediss://b.example`;
  const env = { LIMINAL_REDIS_URL: nodes, LIMINAL_DATABASE_URL: postgres };
  expect(shared(env)?.redisUrl).toBe(nodes);
});

test('the setting for a Convex deployment is a URL, and needs a secret', () => {
  const env = { LIMINAL_REDIS_URL: redis, LIMINAL_DATABASE_URL: convex };
  expect(shared({ ...env, LIMINAL_DATABASE_SECRET: 'hush' })).toMatchObject({
    databaseUrl: convex,
    databaseSecret: 'hush',
  });
  expect(() => shared(env)).toThrow(/set LIMINAL_DATABASE_SECRET/);
});

describe('if shared settings are incomplete or wrong, an error says what to do', () => {
  test.each([
    [{ LIMINAL_REDIS_URL: redis }, 'LIMINAL_REDIS_URL also needs LIMINAL_DATABASE_URL'],
    [{ LIMINAL_DATABASE_URL: postgres }, 'LIMINAL_DATABASE_URL also needs LIMINAL_REDIS_URL'],
    [{ LIMINAL_REDIS_URL: 'localhost:6379' }, 'LIMINAL_REDIS_URL must be redis://'],
    [{ LIMINAL_REDIS_URL: 'redis://a:7000,b:7000' }, 'several separated by commas'],
    [{ LIMINAL_REDIS_URL: 'redis://a,redis://b:port' }, 'LIMINAL_REDIS_URL must be redis://'],
    [
      { LIMINAL_REDIS_URL: redis, LIMINAL_DATABASE_URL: 'mysql://secret@db' },
      'LIMINAL_DATABASE_URL must be postgresql://',
    ],
  ])('for the settings %o', (env, sentence) => {
    const refused = () => shared(env);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(sentence);
    expect(refused).not.toThrow(/secret@/);
  });
});
