import type { ComponentType, ReactNode } from 'react';
import { fetched } from '../look/fetched.tsx';

/** A component that renders a source, or `fallback` if it cannot. */
type Drawer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/** A component whose code is fetched ahead or on first use; until then `fallback` is shown. */
export function drawer<Props extends object>(fetch: () => Promise<{ default: Drawer<Props> }>) {
  return fetched<Props & { fallback: ReactNode }>(fetch, ({ fallback }) => fallback);
}
