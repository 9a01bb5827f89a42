/** Reads responses of other servers up to a limit, so that an endless response does not fill the memory. */

export interface AnswerBound {
  /** Whether the answer is a stream of events. If so, `most` limits each event. */
  isEvents: boolean;
  /** The largest size of the whole answer, or of one event, in bytes, unpacked. */
  most: number;
  /** The largest size of all events of an answer together, in bytes, unpacked. Default: unlimited. */
  mostInAll?: number;
  /** Returns the error with which the stream fails if a limit is exceeded. Default: a RangeError. */
  tooLarge?: () => Error;
}

/** The smallest size of a piece that is passed on, in bytes, for an answer that is not a stream of events. */
const pieceSize = 64 * 1024;

const [lineFeed, carriageReturn] = [10, 13];

/**
 * Returns the bytes of an answer, as a stream that reads from the server only when data is requested. Small pieces are
 * joined, and events are passed on whole, because a parser scans an unfinished event from its start again for each
 * piece.
 */
export function boundedAnswer(
  next: () => Promise<Uint8Array | undefined>,
  cancel: () => void,
  { isEvents, most, mostInAll = Infinity, tooLarge }: AnswerBound,
): ReadableStream<Uint8Array> {
  const held = new HeldBytes();
  const events = new EventEnds();
  let size = 0;
  let inAll = 0;
  const add = (bytes: Uint8Array): Uint8Array => {
    size = (isEvents ? held.length : size) + bytes.length;
    inAll += bytes.length;
    if (size > most || inAll > mostInAll) {
      cancel();
      throw (
        tooLarge?.() ?? (size > most ? largerThan(most, isEvents) : largerThan(mostInAll, false))
      );
    }
    const length = held.length + bytes.length;
    const ready = length < pieceSize ? 0 : bytes.length;
    const end = isEvents ? events.lastEnd(bytes) : ready;
    if (length === end) return bytes;
    held.add(bytes);
    return end === 0 ? new Uint8Array() : held.take(length - bytes.length + end);
  };
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const bytes = await next();
          const ready = bytes === undefined ? held.take(held.length) : add(bytes);
          if (ready.length > 0) controller.enqueue(ready);
          if (bytes === undefined) controller.close();
          if (bytes === undefined || ready.length > 0) return;
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

const largerThan = (most: number, isEvents: boolean): RangeError =>
  new RangeError(`${isEvents ? 'An event' : 'The answer'} is larger than ${most} bytes.`);

/** A growing array of bytes. */
class HeldBytes {
  #bytes = new Uint8Array(0);
  length = 0;

  add(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.length);
    this.length = length;
  }

  /** Removes and returns the first `count` bytes. */
  take(count: number): Uint8Array {
    const taken = this.#bytes.slice(0, count);
    this.#bytes.copyWithin(0, count, this.length);
    this.length -= count;
    return taken;
  }
}

/** Finds the ends of events: empty lines. Lines end with a line feed, a carriage return, or both. */
class EventEnds {
  #isLineEmpty = true;
  #isAfterReturn = false;

  /** Returns the index after the last event that ends in these bytes; 0 if no event ends in them. */
  lastEnd(bytes: Uint8Array): number {
    let end = 0;
    for (const [at, byte] of bytes.entries()) {
      const isPair = this.#isAfterReturn && byte === lineFeed;
      this.#isAfterReturn = byte === carriageReturn;
      if (isPair) continue;
      const isLineEnd = byte === lineFeed || byte === carriageReturn;
      if (isLineEnd && this.#isLineEmpty) end = at + 1;
      this.#isLineEmpty = isLineEnd;
    }
    return end;
  }
}
