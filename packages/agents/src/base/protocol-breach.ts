/** The agent breaks the protocol in a way that would cost the server dearly: it is ended. */
export class ProtocolBreach extends Error {
  readonly code = 'PROTOCOL_ERROR';
}
