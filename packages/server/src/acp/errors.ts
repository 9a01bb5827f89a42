import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { LiminalError, thrownMessage } from '@liminal/protocol';

const notFound = -32_002;
const authRequired = -32_000;
const invalidParams = -32_602;
const internal = -32_603;

const codes: Readonly<Record<string, number>> = {
  SESSION_NOT_FOUND: notFound,
  BLOB_NOT_FOUND: notFound,
  BLOB_TYPE_WRONG: invalidParams,
  PROJECT_DIR_NOT_FOUND: notFound,
  PROJECT_DIR_NOT_ALLOWED: invalidParams,
  CONTENT_NOT_SUPPORTED: invalidParams,
  INVALID_OPTION: invalidParams,
  UNSUPPORTED_CLI_TYPE: invalidParams,
  INVALID_PARAMS: invalidParams,
  AUTHENTICATION: authRequired,
};

/** Converts an error to a JSON-RPC error with its message, and with Liminal's code in `data`. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const code = error instanceof LiminalError ? error.code : 'INTERNAL';
  return requestErrorOf(code, thrownMessage(error));
}

/** Returns the JSON-RPC error for one of Liminal's codes, which is also in `data`. */
export function requestErrorOf(code: string, message: string): RequestError {
  return new RequestError(codes[code] ?? internal, message, { code });
}
