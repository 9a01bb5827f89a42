/** All errors that the server itself makes. */
import { errorTable, LiminalError } from '@liminal/protocol';

/** Errors of requests over HTTP. */
const overHttp = {
  BODY_TOO_LARGE: {
    body: () => 'The body is too large.',
    file: () => 'The file is too large.',
    extensions: () =>
      'The extensions of the chunks of the body are too large. Send the body without them.',
  },
  HEADERS_TOO_LARGE: {
    headers: () =>
      'The address and the headers of the request are too large. Send fewer or shorter ones.',
  },
  HOST_NOT_ALLOWED: {
    unknown: () =>
      'The Host header does not name this server. Use the address that it printed, or add the name to "allowedHosts".',
  },
  INSECURE_HOST: {
    reachable: (host: string) =>
      `Other machines could reach this server on ${host}, without encryption: anyone who reads the traffic can run programs here. Use 127.0.0.1 (through an SSH tunnel or a proxy with TLS), or set --insecure-host.`,
  },
  INTERNAL: {
    failed: () => 'The server failed to handle the request. See its log.',
  },
  INVALID_BODY: {
    invalid: (problems: string) => `The body is not valid: ${problems}.`,
    noFile: () => 'Give the file as the body of the request.',
    noTypedFile: () => 'Give the file as the body of the request, with its content type.',
  },
  INVALID_CURSOR: {
    notOfRun: () => 'Last-Event-ID is not the id of an event of this run.',
  },
  INVALID_JSON: {
    invalid: () => 'The body is not valid JSON.',
    empty: () => 'The body is empty though its content type is application/json.',
  },
  INVALID_PATH: {
    invalid: (problems: string) => `The path is not valid: ${problems}.`,
    notUrl: () => 'The path is not a valid URL path.',
  },
  INVALID_QUERY: {
    invalid: (problems: string) => `The query is not valid: ${problems}.`,
    noImage: () => 'Name the image by an https URL: ?url=…',
  },
  INVALID_REQUEST: {
    invalid: (problems: string) => `The request is not valid: ${problems}.`,
    unsupported: () => 'The request is not supported.',
    notHttp: () => 'This is not an HTTP request.',
    length: () => 'The length of the body differs from its Content-Length.',
    expectation: () => 'The Expect header is not supported.',
    handshake: () => 'The WebSocket handshake is invalid.',
    noUpgrade: () =>
      'No connection can be upgraded at this address: open a WebSocket at /ws, or ACP at /acp.',
    noWebSocket: () => 'Open a WebSocket here.',
    agentMissing: (known: readonly string[]) =>
      `Name the agent in the URL: /acp?agent=… (${known.join(', ')}).`,
    unknownAgent: (agent: string, known: readonly string[]) =>
      `There is no agent ${agent}. Choose one of: ${known.join(', ')}.`,
  },
  NOT_FOUND: {
    route: (what: string) => `Not found: ${what}.`,
    file: () => 'The file does not exist.',
  },
  NOT_READY: {
    because: (problems: string) => problems,
  },
  ORIGIN_NOT_ALLOWED: {
    otherOrigin: () => 'Pages of another origin may not use this server.',
    otherSite: () => 'Pages of another site may not use this server.',
    missing: () =>
      'A request that changes something needs an Origin, or its token as "Authorization: Bearer …".',
  },
  REQUEST_TIMEOUT: {
    slow: () => 'The rest of the request did not arrive in time. Send the request again.',
  },
  TOO_MANY_CONNECTIONS: {
    streams: () => 'Too many streams are open; close some first.',
  },
  UNAUTHORIZED: {
    noToken: () =>
      'Send the token as "Authorization: Bearer …", or open the link that the server printed.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    unknown: () => 'Send JSON as application/json, and a file with its own content type.',
  },
};

/** Errors of starting the server, of ACP, and of the server for a file. */
const others = {
  BLOB_NOT_FOUND: {
    notInFile: () => 'The replayed file does not contain this blob.',
  },
  CLIENT_REFUSED: {
    because: (why: string) => why,
  },
  INVALID_PARAMS: {
    emptyPrompt: () => 'The prompt is empty.',
    notInitialised: () => 'Send initialize first.',
    notOpened: (sessionId: string) =>
      `This connection has not opened the session ${sessionId}: send session/load or session/resume first.`,
    closedMeanwhile: () => 'The session was closed, or opened again, while it was being opened.',
    hasLeft: () => 'The connection has ended.',
    noModes: () => 'This agent has no modes.',
    relativePath: (path: string, field: string) =>
      `“${path}” is not an absolute path: ACP requires one in ${field}.`,
    mcpServers: (problems: string) => `Invalid mcpServers. ${problems}`,
    mcpOverAcp: (name: string) =>
      `The MCP server “${name}” cannot be used: no agent supports MCP over ACP.`,
  },
  PORT_IN_USE: {
    onLocalhost: (host: string, port: number) =>
      `Another program uses port ${port} of ${host}, an address of localhost. Stop it, or choose another port with --port.`,
  },
  SESSION_NOT_FOUND: {
    notInFile: () => 'The replayed file does not contain this session.',
  },
};

export type ServerErrorCode = keyof typeof overHttp;

/** An error with which the server itself rejects a request. */
export class RequestError extends LiminalError {
  declare readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

export const errors = {
  ...errorTable(overHttp, RequestError),
  ...errorTable(others, LiminalError),
};
