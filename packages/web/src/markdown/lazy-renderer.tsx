import type { ComponentType, ReactNode } from 'react';
import { lazyComponent } from '../look/lazy-component.tsx';

/** A component that renders a source. If it cannot render the source, it renders `fallback`. */
type Renderer<Props> = ComponentType<Props & { fallback: ReactNode }>;

/**
 * Makes a component whose code is fetched in advance or on first use. Until the code is loaded, `fallback` is shown.
 */
export function lazyRenderer<Props extends object>(
  fetch: () => Promise<{ default: Renderer<Props> }>,
) {
  return lazyComponent<Props & { fallback: ReactNode }>(fetch, ({ fallback }) => fallback);
}
