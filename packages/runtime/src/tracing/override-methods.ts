/** Returns an object with the given methods. All other methods are those of `base`, and are called on `base`. */
export function overrideMethods<T extends object>(base: T, own: Partial<T>): T {
  return new Proxy(base, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(base, name);
      // Methods are bound because private fields exist only on `base`.
      return typeof value === 'function' ? (value.bind(base) as unknown) : value;
    },
  });
}
