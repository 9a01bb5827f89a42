import { type ComponentType, lazy, type ReactNode } from 'react';

/** A component that shows `fallback` if it cannot render. */
type Drawer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/** Loaded on first use. If that fails, the text is still shown. */
export function fetched<Props>(fetch: () => Promise<{ default: Drawer<Props> }>) {
  return lazy<Drawer<Props>>(() => fetch().catch(() => ({ default: ({ fallback }) => fallback })));
}
