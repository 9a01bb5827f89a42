/**
 * Code that runs inside the sandbox: before the script, and when the script calls the host or the host calls the
 * script. The sandbox gets the source text of these functions, so they must not use anything outside of themselves. A
 * script may replace every built-in function, and give all objects a `toJSON`, so the built-ins that are needed here
 * are saved before the script runs. Texts cross the boundary as JSON, because a plain text would end at a NUL character
 * and lose unpaired surrogates.
 */

/** A thrown value. */
export interface Thrown {
  /** The error's name, for example `TypeError`; undefined if the value is not an Error. */
  name?: string;
  message: string;
  /** The stack in the form of QuickJS: only the code positions, one per line. */
  stack?: string;
  /** The thrown value as JSON, if the value is not an Error. */
  value?: string;
}

/** A message from the sandbox to the host, as JSON. Each of the last three types ends the script. */
export type SandboxMessage =
  /** Begins a call. The input is JSON. The host answers the call with `settle`. */
  | { type: 'call'; id: number; name: string; input: string }
  | { type: 'print'; text: string }
  | { type: 'too_many_calls' }
  /** The result as JSON. */
  | { type: 'result'; json: string }
  | { type: 'thrown'; thrown: Thrown };

/** The functions in the sandbox that the host calls. */
export interface Inside {
  run: (script: () => unknown) => Promise<void>;
  /** Ends the script with a value that was thrown before the script ran. */
  fail: (thrown: unknown) => void;
  /** @param output - A text, as JSON. */
  settle: (id: number, success: boolean, output: string) => void;
}

/** The limits and tools of a script. */
export interface Allowed {
  /** Names of tools. */
  tools: string[];
  /** The most calls in total, and the most calls that run at the same time. */
  calls: number;
  parallelCalls: number;
  /** The most characters of a call's input as JSON. */
  inputCharacters: number;
}

interface Values {
  /** Returns the value as JSON. Throws a TypeError that names the part that JSON cannot express. */
  toJson: (value: unknown, what: string) => string;
  /** Returns the value as text for people. */
  show: (value: unknown) => string;
  describe: (thrown: unknown) => Thrown;
}

export function makeValues(): Values {
  const { stringify } = JSON;
  const { setPrototypeOf } = Object;
  const AnyError = Error;
  const WrongType = TypeError;

  /** Returns the name of the value's constructor, for example `Object`, `Array`, `Map`. */
  const kindOf = (value: object) => Object.prototype.toString.call(value).slice(8, -1);
  const fieldsOf = ({ name, message }: Error) => ({ name, message });

  const checked = (value: unknown, place: string): unknown => {
    const type = typeof value;
    const isWordless = type === 'function' || type === 'symbol' || type === 'bigint';
    if (isWordless || (type === 'number' && !Number.isFinite(value))) {
      const what = isWordless ? `a ${type}` : String(value);
      throw new WrongType(`${place} is ${what}, which JSON cannot express`);
    }
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof AnyError) return fieldsOf(value);
    const kind = kindOf(value);
    if (kind === 'Promise') throw new WrongType(`${place} is a promise: await it first`);
    const isPlain = ['Object', 'Array', 'String', 'Number', 'Boolean'].includes(kind);
    if (isPlain) return value;
    throw new WrongType(`${place} is a ${kind}: make a plain object or an array of it`);
  };

  const toJson: Values['toJson'] = (value, what) => {
    const check = (key: string, one: unknown) =>
      checked(one, key === '' ? what : `"${key}" in ${what}`);
    const json: string | undefined = stringify(value, check);
    return json ?? 'null';
  };

  const readable = (_key: string, value: unknown): unknown => {
    if (typeof value === 'function' || typeof value === 'symbol') return String(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof AnyError) return fieldsOf(value);
    return value instanceof Map || value instanceof Set ? [...value] : value;
  };

  const show: Values['show'] = (value) => {
    try {
      if (typeof value === 'object' && value !== null) {
        const isError = value instanceof AnyError;
        return isError ? `${value.name}: ${value.message}` : stringify(value, readable);
      }
      return String(value);
    } catch {
      return 'something that cannot be shown';
    }
  };

  const describe: Values['describe'] = (thrown) => {
    const described: Thrown = { message: '' };
    setPrototypeOf(described, null);
    try {
      if (thrown instanceof AnyError) {
        described.name = `${thrown.name}`;
        described.message = `${thrown.message}`;
        described.stack = `${thrown.stack}`;
        return described;
      }
      if (typeof thrown === 'object') described.value = toJson(thrown, 'it');
    } catch {
      // `show`, below, describes values that JSON cannot express.
    }
    described.message = show(thrown);
    return described;
  };

  return { toJson, show, describe };
}

export function makeTools(
  send: (message: SandboxMessage) => void,
  { toJson }: Values,
  allowed: Allowed,
): { tools: Record<string, unknown>; settle: Inside['settle'] } {
  const { parse } = JSON;
  const { create, freeze } = Object;
  const LaterValue = Promise;
  const AnyError = Error;
  const WrongSize = RangeError;
  const { calls, parallelCalls, inputCharacters } = allowed;

  interface PendingCall {
    name: string;
    input: string;
    resolve: (output: string) => void;
    reject: (error: Error) => void;
    /**
     * The Error is created when the script makes the call, so that its stack contains the code position of the call.
     */
    failure: Error;
  }
  const open = create(null) as Record<number, PendingCall>;
  let made = 0;
  let begun = 0;
  let running = 0;

  const beginCalls = () => {
    while (begun < made && running < parallelCalls) {
      const { name, input } = open[begun] as PendingCall;
      running += 1;
      begun += 1;
      send({ type: 'call', id: begun - 1, name, input });
    }
  };

  const toolOf = (name: string) => (given: unknown) => {
    const failure = new AnyError('');
    return new LaterValue<string>((resolve, reject) => {
      const input = given === undefined ? '{}' : toJson(given, `the input of ${name}`);
      if (input.length > inputCharacters) {
        const most = `${input.length} characters, of at most ${inputCharacters}`;
        throw new WrongSize(`the input of ${name} has ${most}`);
      }
      if (made === calls) {
        send({ type: 'too_many_calls' });
        throw failure;
      }
      open[made] = { name, input, resolve, reject, failure };
      made += 1;
      beginCalls();
    });
  };

  const settle: Inside['settle'] = (id, success, output) => {
    const { resolve, reject, failure } = open[id] as PendingCall;
    delete open[id];
    running -= 1;
    const text = parse(output) as string;
    if (success) resolve(text);
    else {
      failure.message = text;
      reject(failure);
    }
    beginCalls();
  };

  const tools = create(null) as Record<string, unknown>;
  for (const name of allowed.tools) tools[name] = toolOf(name);
  return { tools: freeze(tools), settle };
}

/** @param receive - Receives each `SandboxMessage`, as JSON. */
export function makeInside(
  receive: (json: string) => void,
  allowed: Allowed,
  valuesMaker: typeof makeValues,
  toolsMaker: typeof makeTools,
): Inside {
  const { stringify } = JSON;
  const { freeze, setPrototypeOf } = Object;
  const values = valuesMaker();
  const { toJson, show, describe } = values;
  const send = (message: SandboxMessage) => {
    setPrototypeOf(message, null);
    receive(stringify(message));
  };
  const { tools, settle } = toolsMaker(send, values, allowed);

  const fail: Inside['fail'] = (thrown) => send({ type: 'thrown', thrown: describe(thrown) });

  const run: Inside['run'] = async (script) => {
    try {
      send({ type: 'result', json: toJson(await script(), 'the result') });
    } catch (thrown) {
      fail(thrown);
    }
  };

  const print = (...shown: unknown[]) => {
    let text = '';
    for (let at = 0; at < shown.length; at += 1) text += (at === 0 ? '' : ' ') + show(shown[at]);
    send({ type: 'print', text: `${text}\n` });
  };
  const console = freeze({ log: print, info: print, warn: print, error: print, debug: print });
  Object.assign(globalThis, { tools, print, console });
  return { run, fail, settle };
}
