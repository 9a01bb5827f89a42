import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { AcpSchema, type AcpEdition } from './schema.ts';

const schemas = new Map<AcpEdition, AcpSchema>();

function schemaOf(edition: AcpEdition): AcpSchema {
  const known = schemas.get(edition) ?? new AcpSchema(edition);
  schemas.set(edition, known);
  return known;
}

/**
 * Returns the problems of a session update by the official schema, one sentence each; empty if the update is valid.
 * Fields that the schema does not contain are problems.
 */
export function updateProblems(update: unknown, edition: AcpEdition = 'stable'): string[] {
  const notification = { sessionId: 'session', update };
  return schemaOf(edition).problems('SessionNotification', notification, { exactly: true });
}

/** Returns the problems of a request's parameters. */
export function requestProblems(method: string, params: unknown): string[] {
  return problemsOf(method, 'Request', params);
}

export interface CheckedStreamOptions {
  /**
   * Receives each problem. Without `onProblem`, a problem ends the stream, and the error is thrown where no code
   * catches it, so that the test run fails.
   */
  onProblem?: (problem: Error) => void;
}

/**
 * Wraps the stream of an ACP connection, on either side, and checks every message by the official schema. An agent's
 * messages must have exactly the schema's fields; a client's messages may have additional fields.
 */
export function checkedStream(
  { readable, writable }: Stream,
  { onProblem = fail }: CheckedStreamOptions = {},
): Stream {
  const dialogue = new Dialogue();
  const check = (from: 'here' | 'there') =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        const problems = dialogue.problems(message, from);
        if (problems.length > 0) {
          onProblem(new Error(`${problems.join('\n')}\nin ${JSON.stringify(message)}`));
        }
        controller.enqueue(message);
      },
    });
  const outgoing = check('here');
  void outgoing.readable.pipeTo(writable).catch(() => undefined);
  return { readable: readable.pipeThrough(check('there')), writable: outgoing.writable };
}

function fail(problem: Error): never {
  void Promise.reject(problem);
  throw problem;
}

/** The open requests of each side. They are needed because an answer does not contain the method of its request. */
export class Dialogue {
  readonly #asked = { here: new Map<unknown, string>(), there: new Map<unknown, string>() };

  problems(message: AnyMessage, from: 'here' | 'there'): string[] {
    if (message.jsonrpc !== '2.0') return ['It is not JSON-RPC 2.0.'];
    if ('method' in message) {
      const isRequest = 'id' in message;
      if (isRequest) this.#asked[from].set(message.id, message.method);
      const kind = isRequest ? 'Request' : 'Notification';
      return problemsOf(message.method, kind, message.params ?? {});
    }
    const asked = this.#asked[from === 'here' ? 'there' : 'here'];
    const method = asked.get(message.id);
    asked.delete(message.id);
    if ('error' in message) {
      return schemaOf('unstable').problems('Error', message.error, { exactly: true });
    }
    // The answer to a request that could not be read contains no id.
    if (method === undefined) return [`No request has the id ${message.id}.`];
    return problemsOf(method, 'Response', message.result ?? {});
  }
}

function problemsOf(
  method: string,
  kind: 'Request' | 'Response' | 'Notification',
  value: unknown,
): string[] {
  // The protocol reserves methods that begin with `_` for extensions.
  if (method.startsWith('_')) return [];
  const schema = schemaOf('unstable');
  const name = schema.nameOf(method, kind);
  if (name === undefined) return [`The protocol has no ${kind.toLowerCase()} ${method}.`];
  const handler = schema.sideOf(name);
  const isAgents = kind === 'Response' ? handler === 'agent' : handler === 'client';
  return schema.problems(name, value, { exactly: isAgents });
}
