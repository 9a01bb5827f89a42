import type { Inboxes, Unsubscribe } from '../coordination.ts';

type Listener = (message: string) => void;

export class MemoryInboxes implements Inboxes {
  readonly #open = new Map<string, Listener>();

  async open(name: string, listener: Listener): Promise<Unsubscribe> {
    this.#open.set(name, listener);
    return async () => {
      if (this.#open.get(name) === listener) this.#open.delete(name);
    };
  }

  async send(name: string, message: string): Promise<boolean> {
    const listener = this.#open.get(name);
    if (listener === undefined) return false;
    queueMicrotask(() => listener(message));
    return true;
  }
}
