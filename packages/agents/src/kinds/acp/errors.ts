/** Reads an agent's errors, and describes them for people. */
import { headOf, thrownMessage } from '@liminal/protocol';
import { z } from 'zod';
import { isRecord } from './translate/fields.ts';

/** The error codes of JSON-RPC and ACP that are used here. */
export const rpc = {
  invalidParams: -32602,
  methodNotFound: -32601,
  authRequired: -32000,
  notFound: -32002,
  internal: -32603,
} as const;

const RpcError = z.looseObject({
  code: z.number(),
  message: z.string(),
  data: z.unknown().optional(),
});
export type RpcError = z.infer<typeof RpcError>;

/** Returns the JSON-RPC error with which an agent answered; undefined for other errors. */
export const readRpcError = (error: unknown): RpcError | undefined =>
  RpcError.safeParse(error).data;

/**
 * Returns the answer with all fields that JSON-RPC requires. Some agents leave out the message or the code of an error,
 * and the library would then show people the raw line.
 */
export function withCompleteError(answer: Record<string, unknown>): Record<string, unknown> {
  const { error } = answer;
  if (error === undefined || (error === null && 'result' in answer)) return answer;
  const { code, message, data } = isRecord(error) ? error : { message: error };
  const completed = {
    code: Number.isInteger(code) ? code : rpc.internal,
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  };
  return { ...answer, error: completed };
}

const InUse = z.looseObject({ data: z.looseObject({ reason: z.literal('thread_active_writer') }) });

/**
 * Returns whether an agent refused a session because another client has the session open. The protocol has no error for
 * this case; the adapter of Codex reports the case with this text.
 */
export const isInUse = (error: unknown): boolean => InUse.safeParse(error).success;

const Detail = z.union([
  z.string().min(1),
  z.looseObject({ message: z.string().min(1) }).transform(({ message }) => message),
  z.looseObject({ details: z.string().min(1) }).transform(({ details }) => details),
]);
/** The answer of a model's API. Some agents pass this answer on unchanged. */
const ApiAnswer = z.looseObject({ error: Detail }).transform(({ error }) => error);
/** How many characters of an unreadable detail are shown. */
const maxDetail = 500;

/** Describes the agent's error in a sentence or two. */
export function describeRpcError({ code, message, data }: RpcError): string {
  if (data === undefined || data === null) {
    return message.trim() === '' ? `The agent gave no reason, only the code ${code}.` : message;
  }
  const parsed = Detail.safeParse(data).data;
  const detail =
    parsed === undefined ? headOf(JSON.stringify(data), maxDetail) : readableDetail(parsed);
  return detail === message || message.trim() === '' ? detail : `${message}: ${detail}`;
}

/** Returns the error's text. If the detail is the JSON answer of a model's API, extracts the text from the answer. */
export function readableDetail(detail: string): string {
  if (!detail.startsWith('{')) return detail;
  try {
    return ApiAnswer.safeParse(JSON.parse(detail)).data ?? detail;
  } catch {
    return detail;
  }
}

/** Describes any error in a sentence or two. */
export function describeError(error: unknown): string {
  const rpcError = readRpcError(error);
  if (rpcError !== undefined) return describeRpcError(rpcError);
  return thrownMessage(error);
}

const AuthMethods = z
  .array(
    z.looseObject({
      id: z.string(),
      name: z.string(),
      description: z.string().nullish(),
      type: z.string().optional(),
      vars: z.array(z.looseObject({ name: z.string() })).optional(),
    }),
  )
  .catch([]);
export type AuthMethod = z.infer<typeof AuthMethods>[number];

/** Reads the ways to sign in from an agent's answer to `initialize`. */
export const readAuthMethods = (value: unknown): AuthMethod[] => AuthMethods.parse(value ?? []);

/** Describes a way to sign in, in the agent's own words. */
export function describeAuthMethod({ name, description, vars = [] }: AuthMethod): string {
  const instructions = description ?? vars.map((one) => `set ${one.name}`).join(', ');
  return instructions === '' || instructions === name ? name : `${name} (${instructions})`;
}

/** The message of agents that give no reason. */
const bareRefusal = /^auth(entication)? required\.?$/i;

/** Explains how to sign in, in the agent's own words if the agent sends some. */
export function authSentence(
  name: string,
  methods: readonly AuthMethod[],
  answer: RpcError,
): string {
  const reason = describeRpcError(answer);
  const hint = bareRefusal.test(reason) ? '' : ` It says: ${withFullStop(reason)}`;
  const ways = methods.map(describeAuthMethod).join('; ');
  const known = ways === '' ? '' : ` Its ways to sign in: ${withFullStop(ways)}`;
  const how = `${hint}${known}` || ' Sign in with its own program.';
  const next = /\btry again[.!]?$/i.test(how) ? '' : ' Then try again.';
  return `${name} wants you to sign in first.${how}${next}`;
}

const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
