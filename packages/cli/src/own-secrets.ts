import { isAbsolute } from 'node:path';
import { isSecretName } from '@liminal/protocol';
import type { Config } from './config/load.ts';

/**
 * Returns the secrets that were given to this server. No log and no session file may show these secrets. They are the
 * passwords in addresses of Redis, database and proxies, the keys of models, and every value whose name marks a secret
 * in the environments of this server, of agents and of MCP servers. The result lacks a token that is only in the data
 * folder: the caller adds it.
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
 * Whether the value is a folder although the variable's name looks like the name of a password, for example `PWD` in
 * shells. A path is not a secret, and occurs in many texts.
 */
const isFolder = (name: string, value: string): boolean =>
  /[_-]pwd$/i.test(name) && isAbsolute(value);

/** Returns the value of a header that may contain a key: as it is written, and without its scheme (`Bearer …`). */
function secretsIn(name: string, value: string): string[] {
  const isKey = isSecretName(name) || /^(\w+ )?[\w.~+/=-]{16,}$/.test(value);
  return isKey ? [value, value.replace(/^\w+ /, '')] : [];
}

/** This runs for the address of a proxy, which may have no scheme. */
const inScheme = (address = ''): string =>
  address.includes('://') ? address : `http://${address}`;

/** Returns the password and the secret parameters of a URL, each as it is written and decoded. */
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
