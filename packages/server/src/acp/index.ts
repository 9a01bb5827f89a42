/**
 * Serves Liminal's agents to editors: for an editor, Liminal is an ACP agent. Input: JSON-RPC messages of ACP v1 by
 * WebSocket or HTTP; each connection serves one agent type. Output: a session's runs as ACP updates, computed by the
 * pure functions in `fold/`, and questions for people. An ACP client subscribes to a session and sends commands to the
 * runtime like every other client.
 */
export { acpRoutes } from './routes.ts';
