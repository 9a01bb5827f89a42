/** An object with some methods of its own; all others are those of `base`, on `base`. */
export function overriding<T extends object>(base: T, own: Partial<T>): T {
  return new Proxy(base, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(base, name);
      // Its private fields are its own.
      return typeof value === 'function' ? (value.bind(base) as unknown) : value;
    },
  });
}
