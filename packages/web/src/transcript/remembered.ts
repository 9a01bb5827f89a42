import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';

/**
 * Remembers what a person has opened and closed in a conversation. Rows far from the window are not mounted, so their
 * components cannot remember this.
 */
export class RowMemory {
  readonly #values = new Map<string, unknown>();
  readonly #listeners = new Set<() => void>();

  get(scope: string, name: string): unknown {
    return this.#values.get(`${scope} ${name}`);
  }

  set(scope: string, name: string, value: unknown): void {
    this.#values.set(`${scope} ${name}`, value);
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

const MemoryContext = createContext<RowMemory | undefined>(undefined);
const ScopeContext = createContext('');

/** Provides the memory of a conversation. */
export const RowMemoryProvider = MemoryContext.Provider;
/** The id of the item or row that contains the rendered content. */
export const RowScope = ScopeContext.Provider;

/** The name under which a row remembers whether it is open. */
export const openName = 'open';

/** Returns the memory of the conversation. Outside of a conversation, returns a new memory for each component. */
function useMemory(): RowMemory {
  const [own] = useState(() => new RowMemory());
  return useContext(MemoryContext) ?? own;
}

/**
 * Works like `useState`, but an item that is mounted again receives its last value, which is remembered by the item's
 * id and the given name.
 */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const memory = useMemory();
  const scope = useContext(ScopeContext);
  const read = () => memory.get(scope, name);
  const known = useSyncExternalStore(memory.subscribe, read, read);
  const set = useCallback((value: T) => memory.set(scope, name, value), [memory, name, scope]);
  return [known === undefined ? initial : (known as T), set];
}

/** Returns the value that was given at the item's first rendering. */
export function useFirst<T>(name: string, value: T): T {
  const memory = useMemory();
  const scope = useContext(ScopeContext);
  const [first] = useState(() => (memory.get(scope, name) as T | undefined) ?? value);
  useEffect(() => {
    if (memory.get(scope, name) === undefined) memory.set(scope, name, first);
  }, [first, memory, name, scope]);
  return first;
}
