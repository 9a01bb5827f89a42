/** A protocol violation that would cost the server too much; the agent is ended. */
export class ProtocolBreach extends Error {
  readonly code = 'PROTOCOL_ERROR';
}
