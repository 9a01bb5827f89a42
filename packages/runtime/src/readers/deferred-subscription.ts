import type { Sink, SubscribeOptions, Subscription } from '../api.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { outgoing } from './outgoing.ts';
import type { WatchedSession } from './watched-session.ts';

interface Found {
  view: WatchedSession;
  /** Call when the subscriber has left. */
  done: () => void;
}

/** Subscribes to a session that is still being looked up; a failure is sent as `session:error`. */
export function subscribeWhenFound(
  sessionId: string,
  find: () => Promise<Found>,
  options: SubscribeOptions,
  sink: Sink,
): Subscription {
  let inner: Subscription | undefined;
  let closed = false;
  const begin = async (): Promise<void> => {
    const { view, done } = await find();
    if (closed) return done();
    const subscription = view.subscribe(options, sink);
    const close = (): void => {
      subscription.close();
      done();
    };
    inner = { drained: () => subscription.drained(), close };
  };
  begin().catch((error) => {
    const [code, message] = [errorCode(error), errorMessage(error)];
    sink.send(outgoing({ type: 'session:error', sessionId, code, message }));
  });
  return {
    drained: () => inner?.drained(),
    close: () => {
      if (closed) return;
      closed = true;
      inner?.close();
    },
  };
}
