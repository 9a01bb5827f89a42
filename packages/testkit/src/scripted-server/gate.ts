/**
 * A point in a scripted reply at which the model waits for the test, so that a test can act in the middle of a text
 * without sleeping: `await gate.reached`, then the action, then `gate.open()`.
 */
export interface Gate {
  readonly type: 'gate';
  /** Resolves when the scripted model first reaches the gate. */
  readonly reached: Promise<void>;
  /** Lets the model pass the gate, now and each time that it reaches the gate later. */
  open(): void;
  /** Called by the scripted model: reports that the model has reached the gate, and waits until the gate is open. */
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
