/** Makes requests of undici, and of Node's `fetch` and `WebSocket`, use the environment's proxies. */
import { Agent, type Dispatcher, ProxyAgent, setGlobalDispatcher } from 'undici';
import { wayTo } from './proxy-choice.ts';

/**
 * Sends each request directly or through a proxy, depending on the environment at that time. undici's own
 * `EnvHttpProxyAgent` is not used, because it supports neither `ALL_PROXY` nor ranges of addresses, and would use a
 * proxy for this machine. Requests to https addresses use a tunnel (CONNECT); for http addresses the proxy gets the
 * whole URL. Throws an Error when a request is dispatched and one of the variables is unusable.
 */
export function proxyingDispatcher(): Dispatcher {
  const proxies = new Map<string, ProxyAgent>();
  return new Agent().compose((direct) => (options, handler) => {
    const way = wayTo(new URL(options.origin ?? ''));
    if (way.kind === 'unusable') throw new Error(way.problem);
    if (way.kind === 'direct') return direct(options, handler);
    const { href } = way.proxy.url;
    const proxy = proxies.get(href) ?? new ProxyAgent(href);
    proxies.set(href, proxy);
    return proxy.dispatch(options, handler);
  });
}

/** Makes the `fetch` and `WebSocket` of this process use the environment's proxies. */
export const proxyFetch = (): void => setGlobalDispatcher(proxyingDispatcher());
