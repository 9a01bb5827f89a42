import type { StreamEvent } from '@liminal/protocol';

/**
 * Goes on with an iterator whose first step is under way. It ends where events are missing, which the log has let go
 * because the reader was too slow: asking again from its place, it is told `snapshot` (invariant 7).
 */
export async function* withoutGap(
  first: Promise<IteratorResult<StreamEvent>>,
  rest: AsyncIterator<StreamEvent>,
  after: number,
): AsyncGenerator<StreamEvent, void> {
  let next = after + 1;
  try {
    for (let step = await first; !step.done; step = await rest.next()) {
      if (step.value.seq > next) return;
      next = step.value.seq + 1;
      yield step.value;
    }
  } finally {
    await rest.return?.();
  }
}
