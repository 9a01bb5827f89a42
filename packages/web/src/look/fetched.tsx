import { type ComponentType, type ReactNode, useState, useSyncExternalStore } from 'react';

/** A part of the page whose code is fetched apart. */
interface Part {
  /** Fetches the code, unless it is there or on its way. */
  fetch: () => Promise<void>;
  hasFailed: () => boolean;
}

const parts = new Set<Part>();
const onFailure = new Set<(isMissing: boolean) => void>();

/** Calls back when a part that is shown could not be fetched, and once none is missing any more. Returns its end. */
export function onMissingPart(callback: (isMissing: boolean) => void): () => void {
  onFailure.add(callback);
  return () => void onFailure.delete(callback);
}

/** Fetches all parts, one after the other, when the page has nothing else to do. */
async function fetchAllParts(): Promise<void> {
  for (const part of parts) {
    await whenIdle();
    await part.fetch();
    // The others would fail as well: they are fetched once the server is back.
    if (part.hasFailed()) return;
  }
}

/** Fetches again what could not be fetched, and then all that was not fetched yet. */
export async function fetchMissingParts(): Promise<void> {
  renewStyles();
  const failed = [...parts].filter((part) => part.hasFailed());
  await Promise.all(failed.map((part) => part.fetch()));
  if (failed.length > 0 && failed.every((part) => !part.hasFailed())) {
    for (const tell of onFailure) tell(false);
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

/** A style sheet that did not come is not fetched again by the browser, nor by the code that asked for it. */
function renewStyles(): void {
  for (const link of failedStyles) link.replaceWith(link.cloneNode());
  failedStyles.clear();
}

/**
 * A component whose code is fetched when it is first rendered, or ahead, with `meanwhile` in its place until
 * then. React's own `lazy` would hold it back for up to 300 ms after its code is there, as it does all that was
 * suspended. Code that cannot be fetched leaves `meanwhile` in its place until `fetchMissingParts`.
 */
export function fetched<Props extends object>(
  fetch: () => Promise<{ default: ComponentType<Props> }>,
  meanwhile: (props: Props) => ReactNode = () => null,
) {
  let state: { Code?: ComponentType<Props>; hasFailed?: boolean } = {};
  let fetching: Promise<void> | undefined;
  const shown = new Set<() => void>();
  const set = (next: typeof state) => {
    state = next;
    for (const onChange of shown) onChange();
    if (next.hasFailed === true && shown.size > 0) reportMissing();
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
    shown.add(onChange);
    if (state.hasFailed === true) reportMissing();
    return () => void shown.delete(onChange);
  };
  return function Fetched(props: Props): ReactNode {
    // Here, as an effect would begin only after the page is drawn.
    useState(() => void fetchOnce());
    const { Code } = useSyncExternalStore(subscribe, () => state);
    return Code === undefined ? meanwhile(props) : <Code {...props} />;
  };
}

function reportMissing(): void {
  for (const tell of onFailure) tell(true);
}
