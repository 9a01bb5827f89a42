/** Makes requests of Node's own HTTP client use the environment's proxies. */
import { Agent, type AgentOptions } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { wayTo } from './proxy-choice.ts';

/**
 * Returns Node's agent for requests to this address through a proxy; undefined if they are sent directly.
 * @throws Error if a variable is unusable.
 */
export function proxyAgentFor(address: URL, options: AgentOptions = {}): Agent | undefined {
  const way = wayTo(address);
  if (way.kind === 'unusable') throw new Error(way.problem);
  if (way.kind === 'direct') return undefined;
  const { href } = way.proxy.url;
  const proxyEnv = { HTTP_PROXY: href, HTTPS_PROXY: href };
  const Kind = address.protocol === 'https:' ? SecureAgent : Agent;
  return new Kind({ ...options, proxyEnv });
}
