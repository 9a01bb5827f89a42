import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';

/**
 * Remembers what a person opened and closed in a conversation. Rows far from the window are not mounted, so their
 * components cannot keep this state.
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
/** The id of the item or row that the content belongs to. */
export const RowScope = ScopeContext.Provider;

/** The name under which rows remember whether they were opened. */
export const openName = 'open';

/** The memory of the conversation; outside of a conversation, a new one for each component. */
function useMemory(): RowMemory {
  const [own] = useState(() => new RowMemory());
  return useContext(MemoryContext) ?? own;
}

/** Like `useState`, but an item that is mounted again gets its last value, by its id and this name. */
export function useRemembered<T>(name: string, initial: T): [T, (value: T) => void] {
  const memory = useMemory();
  const scope = useContext(ScopeContext);
  const read = () => memory.get(scope, name);
  const known = useSyncExternalStore(memory.subscribe, read, read);
  const set = useCallback((value: T) => memory.set(scope, name, value), [memory, name, scope]);
  return [known === undefined ? initial : (known as T), set];
}

/** The value at the item's first rendering. */
export function useFirst<T>(name: string, value: T): T {
  const memory = useMemory();
  const scope = useContext(ScopeContext);
  const [first] = useState(() => (memory.get(scope, name) as T | undefined) ?? value);
  useEffect(() => {
    if (memory.get(scope, name) === undefined) memory.set(scope, name, first);
  }, [first, memory, name, scope]);
  return first;
}
