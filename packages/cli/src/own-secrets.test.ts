import { expect, test } from 'vitest';
import { loadConfig } from './config/load.ts';
import { ownSecrets } from './own-secrets.ts';

const configOf = (env: NodeJS.ProcessEnv) =>
  loadConfig({}, { env, home: '/nowhere', cwd: '/nowhere' });
const secretsOf = (env: NodeJS.ProcessEnv) => ownSecrets(configOf(env), env);

const redis = 'redis://127.0.0.1:1';
const database = 'postgres://127.0.0.1:1/x';

test.each([
  ['the URL of a Redis', 'redis://me:p%40ss%2Fword@127.0.0.1:1', database],
  ['each URL of a Redis Cluster', `rediss://127.0.0.1:1,rediss://:p%40ss%2Fword@b:1`, database],
  ['a database’s URL', redis, 'postgres://me:p%40ss%2Fword@127.0.0.1:1/x'],
  ['the query of a URL', redis, `${database}?user=me&password=p%40ss%2Fword`],
  ['the first value of a URL’s query', redis, 'https://127.0.0.1:1/?key=p%40ss%2Fword&a=b'],
  ['a Convex deployment’s URL', redis, 'https://127.0.0.1:1/?a=b&key=p%40ss%2Fword'],
])(
  'SAFE: the password in %s is treated as a secret, both as it is written and decoded',
  (_, redisUrl, url) => {
    const secrets = secretsOf({
      LIMINAL_REDIS_URL: redisUrl,
      LIMINAL_DATABASE_URL: url,
      LIMINAL_DATABASE_SECRET: 'hush-convex',
    });
    expect([...secrets].sort()).toEqual(['hush-convex', 'p%40ss%2Fword', 'p@ss/word']);
  },
);

test('SAFE: a password that looks percent-encoded but is not is also hidden as it is written', () => {
  const secrets = secretsOf({
    LIMINAL_REDIS_URL: 'redis://:50%off@127.0.0.1:1',
    LIMINAL_DATABASE_URL: database,
  });
  expect([...secrets]).toEqual(['50%off']);
});

test('SAFE: the token, keys of models, and values of variables whose names mark secrets are hidden', () => {
  const secrets = secretsOf({
    LIMINAL_TOKEN: 'hush-token',
    OPENAI_API_KEY: ' hush-openai ',
    MY_PASSWORD: 'hush-mine',
    EMPTY_SECRET: ' ',
    PATH: '/bin',
  });
  expect([...secrets].sort()).toEqual(['hush-mine', 'hush-openai', 'hush-token']);
});

test('a folder in a variable such as OLD_PWD is not treated as a secret, but a password in a similar variable is', () => {
  const secrets = secretsOf({
    OLD_PWD: '/home/ada',
    MYSQL_PWD: 'hush-mysql',
    PWD_TOKEN: '/hush/token',
    APP_PWD_KEY: '/hush/key',
  });
  expect([...secrets].sort()).toEqual(['/hush/key', '/hush/token', 'hush-mysql']);
});

test('SAFE: passwords of proxies are treated as secrets, also in an address without a scheme', () => {
  const secrets = secretsOf({
    HTTPS_PROXY: 'http://me:hush-https@proxy.example:3128',
    all_proxy: 'me:hush-all@proxy.example:3128',
    NO_PROXY: 'http://me:no-secret@proxy.example',
    my_no_proxy: 'http://me:hush-mine@proxy.example',
    PROXY_URL: 'http://me:not-a-proxy@proxy.example',
    HTTPS_PROXY_PAGE: 'http://me:no-proxy-either@proxy.example',
  });
  expect([...secrets].sort()).toEqual(['hush-all', 'hush-https', 'hush-mine']);
});

test('SAFE: secrets in the variables and headers of agents and MCP servers are treated as secrets', () => {
  const program = (env: Record<string, string>) => ({
    type: 'stdio' as const,
    command: 'tool',
    args: [],
    env,
  });
  const agent = { command: 'agent', args: [], defaults: {}, sharedProcess: false };
  const secrets = ownSecrets(
    {
      ...configOf({}),
      mcpServers: {
        files: program({ FILES_KEY: 'hush-files', MODE: 'fast' }),
        web: {
          type: 'http',
          url: 'https://mcp.example',
          headers: { 'X-Api-Key': 'hush-web', Accept: 'text/plain' },
        },
      },
      agents: {
        one: {
          ...agent,
          env: { ONE_TOKEN: 'hush-one', LANG: 'C' },
          mcpServers: { own: program({ OWN_SECRET: 'hush-own' }) },
        },
        two: { ...agent, env: {}, mcpServers: false },
      },
    },
    {},
  );
  expect([...secrets].sort()).toEqual(['hush-files', 'hush-one', 'hush-own', 'hush-web']);
});

test.each<[about: string, name: string, value: string, known: string[]]>([
  ['with a secret name', 'X-Token', 'hush', ['hush']],
  ['with a scheme', 'X-Token', 'Bearer hush', ['Bearer hush', 'hush']],
  ['whose first word is not a scheme', 'X-Token', 'of=our team', ['of=our team']],
  ['of 16 characters or more', 'X-Team', 'hush-1234.+/=~_abc', ['hush-1234.+/=~_abc']],
  [
    'of 16 characters or more after a scheme',
    'X-Team',
    'Key 0123456789abcdef',
    ['Key 0123456789abcdef', '0123456789abcdef'],
  ],
  ['of fewer characters', 'X-Team', 'team-of-fifteen', []],
  ['that ends with a long word', 'X-Team', 'a team with a-very-long-name', []],
  ['that begins with a long word', 'X-Team', 'a-very-long-name-here, and words', []],
  ['with other marks', 'X-Team', '(application/json-lines)', []],
])('SAFE: a model server’s header %s (%s: %s) has these secrets: %j', (_, name, value, known) => {
  const config = configOf({});
  const model = { ...config.models[0]!, headers: { [name]: value } };
  expect([...ownSecrets({ ...config, models: [model] }, {})]).toEqual(known);
});

test('SAFE: the key of a model server is treated as a secret', () => {
  const config = configOf({});
  const model = { ...config.models[0]!, apiKey: 'hush-key' };
  expect([...ownSecrets({ ...config, models: [model] }, {})]).toEqual(['hush-key']);
});

test('the list of secrets is empty for an empty configuration', () => {
  expect([...secretsOf({ HTTP_PROXY: '', UNSET_TOKEN: undefined })]).toEqual([]);
});
