/** The agent does what no protocol allows, and what would cost the server dearly: it is ended. */
export class ProtocolBreach extends Error {
  readonly code = 'PROTOCOL_ERROR';
}
