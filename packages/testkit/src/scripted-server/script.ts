import type { Gate } from './gate.ts';

/** A model's answers: a list that is used up in order, or a function of each request. */
export type ScriptOf<Request, Reply> = Reply[] | ((request: Request) => Reply);

/** Sends nothing, not even headers, until the gate opens. */
export interface Held<Reply> {
  type: 'held';
  gate: Gate;
  reply: Reply;
}

/** Sends nothing until the gate opens, then `reply`. */
export const held = <Reply>(gate: Gate, reply: Reply): Held<Reply> => ({
  type: 'held',
  gate,
  reply,
});

/** The same reply `count` times, to be spread into a script. */
export const times = <Reply>(count: number, reply: Reply): Reply[] =>
  Array.from({ length: count }, () => reply);

/** Turns any script into a function of the request that keeps track of used answers. */
export function readScript<Request, Reply>(
  script: ScriptOf<Request, Reply>,
  exhausted: (request: Request) => Reply,
): (request: Request) => Reply {
  if (typeof script === 'function') return script;
  let next = 0;
  return (request) => script[next++] ?? exhausted(request);
}

/**
 * A script for many sessions. A prompt selects the entry whose key the prompt contains, and gets the replies of this
 * entry from the first reply on, each time that a session sends the prompt. `turn` names the turn of a request.
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
