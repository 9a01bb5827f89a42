/**
 * A point in a scripted reply where the model waits for the test, so that a test can act in the middle of a text
 * without sleeping: `await gate.reached`, act, `gate.open()`.
 */
export interface Gate {
  readonly type: 'gate';
  /** Resolves when the scripted model has got here for the first time. */
  readonly reached: Promise<void>;
  /** Lets the model go on, now and at every later arrival. */
  open(): void;
  /** Called by the scripted model: announces its arrival and waits. */
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
