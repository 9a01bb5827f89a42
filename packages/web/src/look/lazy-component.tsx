import { type ComponentType, type ReactNode, useState, useSyncExternalStore } from 'react';

/** A part of the page whose code is fetched separately. */
interface LazyPart {
  /** Fetches the code, unless it is loaded or being fetched. */
  fetch: () => Promise<void>;
  hasFailed: () => boolean;
}

const parts = new Set<LazyPart>();
const onFailure = new Set<(isMissing: boolean) => void>();

/**
 * Calls back with true when a shown part could not be fetched, and with false once no part is missing. Returns a
 * function that unsubscribes.
 */
export function onMissingPart(callback: (isMissing: boolean) => void): () => void {
  onFailure.add(callback);
  return () => void onFailure.delete(callback);
}

/** Fetches all parts, one after the other, when the page has nothing else to do. */
async function fetchAllParts(): Promise<void> {
  for (const part of parts) {
    await whenIdle();
    await part.fetch();
    // Stop, because fetching the other parts would also fail: they are fetched once the server is back.
    if (part.hasFailed()) return;
  }
}

/** Fetches the failed parts again, and then all parts that were not fetched yet. */
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
  // The event of a link does not bubble.
  const note = ({ target }: Event) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failedStyles.add(target);
  };
  document.addEventListener('error', note, { capture: true });
}

/** Requests failed style sheets again: neither the browser nor the code that imports them does so. */
function retryStyles(): void {
  for (const link of failedStyles) link.replaceWith(link.cloneNode());
  failedStyles.clear();
}

/**
 * A component whose code is fetched ahead, or when it is first rendered. Until the code is loaded, `fallback` is
 * rendered; if fetching fails, `fallback` stays until `fetchMissingParts` has fetched the code. React's `lazy` would
 * delay the component by up to 300 ms after its code is loaded, as it does for everything that was suspended.
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
    // Start fetching here, because an effect would start only after the page is painted.
    useState(() => void fetchOnce());
    const { Code } = useSyncExternalStore(subscribe, () => state);
    return Code === undefined ? fallback(props) : <Code {...props} />;
  };
}

function reportMissing(): void {
  for (const notify of onFailure) notify(true);
}
