import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { bearer } from './harness.ts';

export interface StreamedEvent {
  event: string;
  id: string | undefined;
  data: Record<string, unknown>;
}

/** Reads server-sent events as a browser does, and collects them. */
export class EventStreamReader {
  readonly response: IncomingMessage;
  readonly events: StreamedEvent[] = [];
  readonly comments: string[] = [];
  ended = false;
  #text = '';
  #changed = Promise.withResolvers<void>();

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    response.on('error', () => {});
    response.once('close', () => {
      this.ended = true;
      this.#notify();
    });
  }

  static async open(
    port: number,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<EventStreamReader> {
    const asked = request({ host: '127.0.0.1', port, path, headers: { ...bearer, ...headers } });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    asked.on('error', () => {});
    return new EventStreamReader(response);
  }

  /** Resolves with an event that has arrived already or will arrive. */
  async waitFor(
    name: string,
    isIt: (event: StreamedEvent) => boolean = () => true,
  ): Promise<StreamedEvent> {
    for (;;) {
      const found = this.of(name).find(isIt);
      if (found) return found;
      if (this.ended) throw new Error(`The stream ended without ${name}.`);
      await this.#changed.promise;
    }
  }

  async end(): Promise<void> {
    while (!this.ended) await this.#changed.promise;
  }

  async comment(text: string): Promise<void> {
    while (!this.comments.includes(text)) await this.#changed.promise;
  }

  of(name: string): StreamedEvent[] {
    return this.events.filter(({ event }) => event === name);
  }

  close(): void {
    this.response.destroy();
  }

  #take(chunk: string): void {
    const blocks = (this.#text + chunk).split('\n\n');
    this.#text = blocks.pop()!;
    for (const block of blocks) this.#read(block);
    this.#notify();
  }

  #read(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => {
        // A line may contain U+2028, which ends a line only in JavaScript.
        const [, name, value] = /^(\w*): ?(.*)$/s.exec(line)!;
        return [name!, value!];
      }),
    );
    const comment = fields.get('');
    if (comment !== undefined) this.comments.push(comment);
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      event: fields.get('event')!,
      id: fields.get('id'),
      data: JSON.parse(data) as Record<string, unknown>,
    });
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
