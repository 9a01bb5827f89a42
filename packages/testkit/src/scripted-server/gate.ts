/**
 * A point in a scripted reply where the model waits for the test, so that a test can act in the middle of a text
 * without sleeping: `await gate.reached`, act, `gate.open()`.
 */
export interface Gate {
  readonly type: 'gate';
  /** Resolves when the scripted model first reaches the gate. */
  readonly reached: Promise<void>;
  /** Lets the model continue, now and at every later arrival. */
  open(): void;
  /** Called by the scripted model: reports its arrival and waits. */
  pass(): Promise<void>;
}

export function gate(): Gate {
  const arrival = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  return {
    type: 'gate',
    reached: arrival.promise,
    open: () => release.resolve(),
    pass: () => {
      arrival.resolve();
      return release.promise;
    },
  };
}
