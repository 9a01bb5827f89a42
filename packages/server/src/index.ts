/** Liminal's surfaces: HTTP, WebSocket, server-sent events and the web app, behind one guard. */
export { isLoopback } from './auth/host.ts';
export { createServer, type ServerOptions } from './create-server.ts';
export { createLogger } from './logging.ts';
export { defaultLimits, type Limits } from './limits.ts';
