import type { ComponentType, ReactNode } from 'react';
import { lazyComponent } from '../look/lazy-component.tsx';

/** A component that renders a source, or `fallback` if it cannot. */
type Renderer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/** A component whose code is fetched ahead or on first use; until then `fallback` is shown. */
export function lazyRenderer<Props extends object>(
  fetch: () => Promise<{ default: Renderer<Props> }>,
) {
  return lazyComponent<Props & { fallback: ReactNode }>(fetch, ({ fallback }) => fallback);
}
