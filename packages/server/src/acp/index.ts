/**
 * Liminal as an ACP agent, for editors. In come JSON-RPC messages of ACP v1 by WebSocket or HTTP, each connection for
 * one agent type; out go a session's runs as the protocol's updates, made by the pure `fold/`, and people's questions.
 * A client is a reader of the session beside all others: what it asks goes to the runtime as anybody's request does.
 */
export { acpRoutes } from './routes.ts';
