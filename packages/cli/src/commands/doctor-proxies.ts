/** Doctor's check of proxies: whether requests to each configured address use a proxy. */
import { hasProxies, shownProxy, type Way, wayTo } from '@liminal/agents/proxy';
import { thrownMessage } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { isConvex } from '../config/shared.ts';
import type { Finding } from '../finding.ts';
import { addressesOf } from '../telemetry/proxied.ts';

/** The default addresses of the model providers. */
const providerUrls = { openai: 'https://api.openai.com', anthropic: 'https://api.anthropic.com' };

/** Returns one finding for each configured HTTP address; no findings if no proxy variable is set. */
export function checkProxies(config: Config, env: NodeJS.ProcessEnv): Finding[] {
  if (!hasProxies(env)) return [];
  return addressesIn(config, env).map(([name, address]) => {
    try {
      const url = new URL(address);
      return describeWay(`${name} (${url.origin})`, wayTo(url, env));
    } catch (error) {
      return { verdict: 'poor', text: `Proxy of ${name}: ${thrownMessage(error)}` };
    }
  });
}

function describeWay(name: string, way: Way): Finding {
  switch (way.kind) {
    case 'proxy':
      return {
        verdict: 'good',
        text: `${name} is reached through the proxy ${shownProxy(way.proxy)}`,
      };
    case 'direct':
      return { verdict: 'good', text: `${name} is reached directly: ${reasons[way.reason]}` };
    case 'unusable':
      return { verdict: 'poor', text: `${name} cannot be reached. ${way.problem}` };
  }
}

const reasons = {
  'no proxy is set': 'no proxy is set for its protocol',
  'this machine': 'it is this machine',
  NO_PROXY: 'NO_PROXY names it',
};

/** Returns each configured HTTP address, with the name that the finding shows for the address. */
function addressesIn(config: Config, env: NodeJS.ProcessEnv): [name: string, address: string][] {
  const { models, mcpServers, telemetry, shared } = config;
  return [
    ...models
      .filter(({ problem }) => problem === undefined)
      .map(({ title, type, baseUrl = providerUrls[type] }): [string, string] => [title, baseUrl]),
    ...Object.entries(mcpServers).flatMap(([name, server]): [string, string][] =>
      server.type === 'stdio' ? [] : [[`MCP server ${name}`, server.url]],
    ),
    ...(telemetry ? addressesOf(telemetry, env) : []),
    ...(shared && isConvex(shared.databaseUrl)
      ? [['Convex deployment', shared.databaseUrl] as [string, string]]
      : []),
  ];
}
