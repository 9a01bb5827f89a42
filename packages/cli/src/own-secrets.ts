import { isAbsolute } from 'node:path';
import { isSecretName } from '@liminal/protocol';
import type { Config } from './config/load.ts';

/**
 * The secrets given to this server, which no log and no session file may show: the passwords in addresses of Redis,
 * database and proxies, keys of models, and every value whose name marks a secret in its environment and those of
 * agents and MCP servers. A token that is only in the data folder is missing in the result: the caller adds it.
 */
export function ownSecrets(config: Config, env: NodeJS.ProcessEnv): Set<string> {
  const { token = '', shared, models, agents, mcpServers } = config;
  const variables = [
    env,
    ...Object.values(agents).map((agent) => agent.env),
    ...[mcpServers, ...Object.values(agents).map((agent) => agent.mcpServers || {})]
      .flatMap((servers) => Object.values(servers))
      .map((server) => (server.type === 'stdio' ? server.env : server.headers)),
  ];
  const named = variables
    .flatMap((values) => Object.entries(values))
    .flatMap(([name, value]) =>
      value !== undefined && isSecretName(name) && !isFolder(name, value) ? value : [],
    );
  const proxies = Object.keys(env).filter((name) => /_proxy$/i.test(name) && !/^no_/i.test(name));
  const addresses = [
    shared?.redisUrl,
    shared?.databaseUrl,
    ...proxies.map((name) => inScheme(env[name])),
  ];
  const passwords = addresses.flatMap((urls) => (urls ?? '').split(',').flatMap(passwordsIn));
  const keys = models.flatMap(({ apiKey = '', headers = {} }) => [
    apiKey,
    ...Object.entries(headers).flatMap(([name, value]) => secretsIn(name, value)),
  ]);
  const all = [token, shared?.databaseSecret ?? '', ...passwords, ...keys, ...named];
  return new Set(all.map((secret) => secret.trim()).filter((secret) => secret !== ''));
}

/**
 * Whether the value is a folder although its name looks like that of a password, for example `PWD` in shells. A path is
 * not a secret, and occurs in many texts.
 */
const isFolder = (name: string, value: string): boolean =>
  /[_-]pwd$/i.test(name) && isAbsolute(value);

/** The value of a header that may be a key: as written, and without its scheme (`Bearer …`). */
function secretsIn(name: string, value: string): string[] {
  const isKey = isSecretName(name) || /^(\w+ )?[\w.~+/=-]{16,}$/.test(value);
  return isKey ? [value, value.replace(/^\w+ /, '')] : [];
}

/** The address of a proxy may have no scheme. */
const inScheme = (address = ''): string =>
  address.includes('://') ? address : `http://${address}`;

/** The password and the secret parameters of a URL, each as written and decoded. */
function passwordsIn(url: string): string[] {
  const { password = '', search = '' } = URL.parse(url) ?? {};
  const named = search
    .slice(1)
    .split('&')
    .map((part) => part.split(/=(.*)/s))
    .flatMap(([name = '', value = '']) => (isSecretName(`_${name}`) ? [value] : []));
  return [password, ...named].flatMap((secret) => [secret, decoded(secret)]);
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}
