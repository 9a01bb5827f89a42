import type { Sink, SubscribeOptions, Subscription } from '../api.ts';
import { errorCode, errorMessage } from '../errors.ts';
import { outgoing } from './outgoing.ts';
import type { LocalSubscribers } from './local-subscribers.ts';

interface SubscriptionTarget {
  subscribers: LocalSubscribers;
  /** Call this function when the subscriber has left. */
  done: () => void;
}

/** Subscribes to a session that is still being looked up; a failure is sent as `session:error`. */
export function subscribeWhenFound(
  sessionId: string,
  find: () => Promise<SubscriptionTarget>,
  options: SubscribeOptions,
  sink: Sink,
): Subscription {
  let inner: Subscription | undefined;
  let closed = false;
  const begin = async (): Promise<void> => {
    const { subscribers, done } = await find();
    if (closed) return done();
    const subscription = subscribers.subscribe(options, sink);
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
