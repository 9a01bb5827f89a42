/**
 * Liminal as an ACP agent, for editors. Input: JSON-RPC messages of ACP v1 by WebSocket or HTTP; each connection is for
 * one agent type. Output: a session's runs as ACP updates, made by the pure `fold/`, and questions for people. An ACP
 * client subscribes to a session like every other client, and its commands go to the runtime like theirs.
 */
export { acpRoutes } from './routes.ts';
