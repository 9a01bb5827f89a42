/**
 * The names of all keys. All keys of one command or script are in one slot of a Redis Cluster: a companion key contains
 * its main key in braces, and a cluster hashes only the text in braces.
 */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A run's events: the stream that readers in any language follow (seed 001). */
  events(runId: string): string {
    return `${this.#prefix}:run:${plain(runId)}:events`;
  }

  /** The fields that are stored once per run; companion of the run's events. */
  run(runId: string): string {
    return companion(this.events(runId), 'run');
  }

  /** The stream of announced runs that are not settled yet. */
  get runs(): string {
    return `${this.#prefix}:runs`;
  }

  /** Maps a run to its entry in `runs`; companion of `runs`. */
  get announced(): string {
    return companion(this.runs, 'announced');
  }

  /** A turn's upserts, for readers in any language (seed 003). */
  upserts(turnId: string): string {
    return `${this.#prefix}:turn:${plain(turnId)}:upserts`;
  }

  lease(name: string): string {
    return `${this.#prefix}:lease:${plain(name)}`;
  }

  /**
   * The key of the text under a name. The key is also the name of the channel on which postings of the text are
   * published.
   */
  posting(name: string): string {
    return `${this.#prefix}:board:${plain(name)}`;
  }

  /** The pattern of the channels of all names with this prefix. */
  postings(namePrefix: string): string {
    return `${this.posting(namePrefix).replaceAll(/[*?[\]\\^]/g, String.raw`\$&`)}*`;
  }

  /** The name that a channel of `posting` announces; undefined for a channel of another program. */
  postedName(channel: string): string | undefined {
    try {
      return decodeURIComponent(channel.slice(this.posting('').length));
    } catch {
      return undefined;
    }
  }

  inbox(name: string): string {
    return `${this.#prefix}:inbox:${plain(name)}`;
  }

  /** The key with the server that has opened the inbox; companion of the inbox. */
  opener(name: string): string {
    return companion(this.inbox(name), 'opener');
  }

  /** The stream of tasks that no worker has taken. */
  get tasks(): string {
    return `${this.#prefix}:tools`;
  }

  /** Maps a worker to the time until which it counts as present; companion of `tasks`. */
  get taskWorkers(): string {
    return companion(this.tasks, 'workers');
  }

  /** The messages of one side about a task; companion of `tasks`, so that one connection waits for all of them. */
  taskMessages(taskId: string, from: string): string {
    return companion(this.tasks, `${plain(taskId)}:${from}`);
  }

  /** The stream that wakes a reader of streams in one slot; companion of any stream in that slot. */
  wake(key: string, reader: string): string {
    return companion(key, `wake:${reader}`);
  }
}

function companion(key: string, what: string): string {
  // If the prefix contains braces, all keys are already in one slot.
  return key.includes('{') ? `${key}:${what}` : `{${key}}:${what}`;
}

/** Escapes braces in a name, because they would change which part of the key a cluster hashes. */
function plain(name: string): string {
  return name.replaceAll(/[{}%]/g, encodeURIComponent);
}
