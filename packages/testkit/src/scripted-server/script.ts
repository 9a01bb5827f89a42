import type { Gate } from './gate.ts';

/** A model's answers: a list whose replies are used in order, or a function of each request. */
export type ScriptOf<Request, Reply> = Reply[] | ((request: Request) => Reply);

/** A reply that is held back: nothing, not even a header, is sent until the gate opens. */
export interface Held<Reply> {
  type: 'held';
  gate: Gate;
  reply: Reply;
}

/** Makes a reply that is sent only when the gate opens. Until then, nothing is sent. */
export const held = <Reply>(gate: Gate, reply: Reply): Held<Reply> => ({
  type: 'held',
  gate,
  reply,
});

/** Returns a list that contains the same reply `count` times. A script can spread this list. */
export const times = <Reply>(count: number, reply: Reply): Reply[] =>
  Array.from({ length: count }, () => reply);

/** Converts any script to a function of the request that remembers which replies were already used. */
export function readScript<Request, Reply>(
  script: ScriptOf<Request, Reply>,
  exhausted: (request: Request) => Reply,
): (request: Request) => Reply {
  if (typeof script === 'function') return script;
  let next = 0;
  return (request) => script[next++] ?? exhausted(request);
}

/**
 * Makes a script for many sessions. A prompt selects the entry whose key the prompt contains, and receives the replies
 * of this entry from the first reply on, each time that a session sends the prompt. `turn` returns a key that
 * identifies the turn of a request.
 */
export function answerByPrompt<Request extends { prompt: string }, Reply>(
  entries: Record<string, Reply[]>,
  turn: (request: Request) => string,
  exhausted: (request: Request) => Reply,
): (request: Request) => Reply {
  const running = new Map<string, (request: Request) => Reply>();
  return (request) => {
    const [key, replies] =
      Object.entries(entries).find(([part]) => request.prompt.includes(part)) ?? [];
    if (replies === undefined) return exhausted(request);
    const name = `${turn(request)}/${key}`;
    const answer = running.get(name) ?? readScript(replies, exhausted);
    running.set(name, answer);
    return answer(request);
  };
}
