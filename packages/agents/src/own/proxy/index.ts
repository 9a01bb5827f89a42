export { proxyFetch, proxyingDispatcher } from './dispatcher.ts';
export { proxyAgentFor } from './node-agent.ts';
export {
  hasProxies,
  type Proxy,
  refusalOfProxy,
  shownProxy,
  throughProxy,
  type Way,
  wayTo,
} from './proxy-choice.ts';
