import type { StreamEvent } from '@liminal/protocol';

/**
 * Goes on with an iterator whose first step is under way. Ends at a gap: the log has dropped events because the reader
 * was too slow. Asking again from its place, the reader is told `snapshot` (invariant 7).
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
