import { isAbsolute } from 'node:path';
import { isSecretName } from '@liminal/protocol';
import type { Config } from './config/load.ts';

/**
 * The secrets that this server is given, which no log and no file of a session may show: the passwords of what it uses
 * and of proxies, keys of models, and every value of its environment, agents and MCP servers whose name says that it is one. A token that
 * it finds in its data folder is to be added.
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

/** Some programs name a folder so, as shells do with `PWD`: texts are full of its path. */
const isFolder = (name: string, value: string): boolean =>
  /[_-]pwd$/i.test(name) && isAbsolute(value);

/** A header's value, if it may be a key, and what follows its scheme (`Bearer …`). */
function secretsIn(name: string, value: string): string[] {
  const isKey = isSecretName(name) || /^(\w+ )?[\w.~+/=-]{16,}$/.test(value);
  return isKey ? [value, value.replace(/^\w+ /, '')] : [];
}

/** A proxy's address may stand without its scheme. */
const inScheme = (address = ''): string =>
  address.includes('://') ? address : `http://${address}`;

/** The password, and what else is named as a secret: as it stands in the address, and as it is. */
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
