/** Liminal's server: HTTP, WebSocket, server-sent events and the web app, behind one guard. */
export {
  createCredentials,
  type Credentials,
  type Device,
  isBefore,
  type SignedOut,
} from './auth/credentials.ts';
export { isLoopback } from './auth/host.ts';
export { createReplayServer, type ReplayedFile } from './replay-server.ts';
export { createServer, type ServerOptions } from './create-server.ts';
export { listen } from './listen.ts';
export { createLogger } from './logging.ts';
export { Metrics } from './metrics/metrics.ts';
export { defaultLimits, type Limits } from './limits.ts';
