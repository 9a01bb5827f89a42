/** A shared object as one of its users sees it, until that user is cut off. */
export function severable<T extends object>(whole: T): { subject: T; sever: () => void } {
  const cut = { isCut: false };
  return { subject: guarded(whole, cut), sever: () => void (cut.isCut = true) };
}

/** After the cut, calls never return and callbacks are not called, as for a dead process. */
function guarded<T extends object>(target: T, cut: { isCut: boolean }): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value === 'function') return guardedCall(target, value, cut);
      return typeof value === 'object' && value !== null ? guarded(value, cut) : value;
    },
  });
}

function guardedCall(target: object, call: Function, cut: { isCut: boolean }) {
  return (...args: unknown[]): unknown => {
    const heard = args.map((arg) => silenced(arg, cut));
    if (!cut.isCut) return call.apply(target, heard);
    return new Promise(() => {});
  };
}

/** Silences listeners and objects that contain listeners; other values stay as they are. */
function silenced(arg: unknown, cut: { isCut: boolean }): unknown {
  if (typeof arg === 'function') {
    return (...told: unknown[]): unknown => (cut.isCut ? undefined : arg(...told));
  }
  if (typeof arg !== 'object' || arg === null || !('onPost' in arg)) return arg;
  return Object.fromEntries(
    Object.entries(arg).map(([name, value]) => [name, silenced(value, cut)]),
  );
}
