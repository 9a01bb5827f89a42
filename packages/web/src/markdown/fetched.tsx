import { type ComponentType, lazy, type ReactNode } from 'react';

/** What draws something, and shows its `fallback` where it cannot. */
type Drawer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/** Fetched when first needed. Where that fails the text is still all there, rather than the page gone. */
export function fetched<Props>(fetch: () => Promise<{ default: Drawer<Props> }>) {
  return lazy<Drawer<Props>>(() => fetch().catch(() => ({ default: ({ fallback }) => fallback })));
}
