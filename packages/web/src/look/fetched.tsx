import { type ComponentType, type ReactNode, useState, useSyncExternalStore } from 'react';

/**
 * A component whose code is fetched when it is first rendered, with `meanwhile` in its place until then. React's own
 * `lazy` would hold it back for up to 300 ms after its code is there, as it does all that was suspended. Throws while
 * rendering if its code cannot be fetched.
 */
export function fetched<Props extends object>(
  fetch: () => Promise<{ default: ComponentType<Props> }>,
  meanwhile: (props: Props) => ReactNode = () => null,
) {
  let state: { Code?: ComponentType<Props>; problem?: Error } = {};
  let fetching: Promise<void> | undefined;
  const fetchOnce = () => {
    fetching ??= fetch().then(
      ({ default: Code }) => void (state = { Code }),
      (problem: Error) => void (state = { problem }),
    );
    return fetching;
  };
  const subscribe = (onChange: () => void) => {
    let isShown = true;
    void fetchOnce().then(() => isShown && onChange());
    return () => void (isShown = false);
  };
  return function Fetched(props: Props): ReactNode {
    // Here, as an effect would begin only after the page is drawn.
    useState(() => void fetchOnce());
    const { Code, problem } = useSyncExternalStore(subscribe, () => state);
    if (problem !== undefined) throw problem;
    return Code === undefined ? meanwhile(props) : <Code {...props} />;
  };
}
