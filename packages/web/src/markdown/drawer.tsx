import type { ComponentType, ReactNode } from 'react';
import { fetched } from '../look/fetched.tsx';

/** Draws what is written; shows `fallback` if it cannot. */
type Drawer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/** Its code comes with its first use, or before; until then the text is shown. */
export function drawer<Props extends object>(fetch: () => Promise<{ default: Drawer<Props> }>) {
  return fetched<Props & { fallback: ReactNode }>(fetch, ({ fallback }) => fallback);
}
