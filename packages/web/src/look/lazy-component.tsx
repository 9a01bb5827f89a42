import { type ComponentType, type ReactNode, useState, useSyncExternalStore } from 'react';

/** A part of the page with its own code, which is fetched separately. */
interface LazyPart {
  /** Fetches the code, unless it is already loaded or being fetched. */
  fetch: () => Promise<void>;
  hasFailed: () => boolean;
}

const parts = new Set<LazyPart>();
const onFailure = new Set<(isMissing: boolean) => void>();

/**
 * Calls `callback` with true when the code of a shown part could not be fetched, and with false when the code of every
 * part is there. Returns a function that unsubscribes.
 */
export function onMissingPart(callback: (isMissing: boolean) => void): () => void {
  onFailure.add(callback);
  return () => void onFailure.delete(callback);
}

/** Fetches the code of all parts, one part after the other, when the page has nothing else to do. */
async function fetchAllParts(): Promise<void> {
  for (const part of parts) {
    await whenIdle();
    await part.fetch();
    // Stop, because fetching the other parts would also fail. They are fetched when the server is reachable again.
    if (part.hasFailed()) return;
  }
}

/** Fetches the parts that could not be fetched, and then all parts that were not fetched yet. */
export async function fetchMissingParts(): Promise<void> {
  retryStyles();
  const failed = [...parts].filter((part) => part.hasFailed());
  await Promise.all(failed.map((part) => part.fetch()));
  if (failed.length > 0 && failed.every((part) => !part.hasFailed())) {
    for (const notify of onFailure) notify(false);
  }
  await fetchAllParts();
}

const whenIdle = () =>
  new Promise<void>((resolve) => {
    if (typeof requestIdleCallback === 'undefined') setTimeout(resolve, 200);
    else requestIdleCallback(() => resolve(), { timeout: 5_000 });
  });

const failedStyles = new Set<HTMLLinkElement>();
if (typeof document !== 'undefined') {
  // Listen in the capture phase, because the event of a link element does not bubble.
  const note = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failedStyles.add(target);
  };
  document.addEventListener('error', note, { capture: true });
}

/** Requests failed style sheets again, because neither the browser nor the code that imports them does so. */
function retryStyles(): void {
  for (const link of failedStyles) link.replaceWith(link.cloneNode());
  failedStyles.clear();
}

/**
 * Makes a component whose code is fetched in advance, or when the component is first rendered. Until the code is
 * loaded, `fallback` is rendered. If fetching fails, `fallback` stays until `fetchMissingParts` has fetched the code.
 * React's `lazy` would render the component up to 300 ms after its code is loaded, as React does with all suspended
 * content.
 */
export function lazyComponent<Props extends object>(
  fetch: () => Promise<{ default: ComponentType<Props> }>,
  fallback: (props: Props) => ReactNode = () => null,
) {
  let state: { Code?: ComponentType<Props>; hasFailed?: boolean } = {};
  let fetching: Promise<void> | undefined;
  const mounted = new Set<() => void>();
  const set = (next: typeof state) => {
    state = next;
    for (const onChange of mounted) onChange();
    if (next.hasFailed === true && mounted.size > 0) reportMissing();
  };
  const fetchOnce = () => {
    fetching ??= fetch().then(
      ({ default: Code }) => set({ Code }),
      () => {
        fetching = undefined;
        set({ hasFailed: true });
      },
    );
    return fetching;
  };
  parts.add({ fetch: fetchOnce, hasFailed: () => state.hasFailed === true });
  const subscribe = (onChange: () => void) => {
    mounted.add(onChange);
    if (state.hasFailed === true) reportMissing();
    return () => void mounted.delete(onChange);
  };
  return function Fetched(props: Props): ReactNode {
    // Start fetching during the rendering, because an effect would start fetching only after the page is painted.
    useState(() => void fetchOnce());
    const { Code } = useSyncExternalStore(subscribe, () => state);
    return Code === undefined ? fallback(props) : <Code {...props} />;
  };
}

function reportMissing(): void {
  for (const notify of onFailure) notify(true);
}
