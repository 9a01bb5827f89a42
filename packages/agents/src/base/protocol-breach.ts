/** An agent's violation of its protocol that would cost the server too much memory or time; Liminal ends the agent. */
export class ProtocolBreach extends Error {
  readonly code = 'PROTOCOL_ERROR';
}
