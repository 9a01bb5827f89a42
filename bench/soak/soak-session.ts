import type { ServerMessage, UpsertObject } from '@liminal/protocol';
import type WebSocket from 'ws';
import type { Connection } from '../parts/connection.ts';

export interface Project {
  connection: Connection;
  projectDir: string;
}

/** A session with a user who subscribes to it, answers its agent's questions, and stops a held turn. */
export class SoakSession {
  readonly sessionId: string;
  readonly #connection: Connection;
  #socket: WebSocket | undefined;
  #turn: PromiseWithResolvers<void> | undefined;
  #isHeld = false;

  private constructor(connection: Connection, sessionId: string) {
    this.#connection = connection;
    this.sessionId = sessionId;
  }

  static async begin(
    { connection, projectDir }: Project,
    cliType: string,
    options: object = {},
  ): Promise<SoakSession> {
    const { sessionId } = await connection.post('create', { cliType, projectDir, options });
    const talk = new SoakSession(connection, String(sessionId));
    await talk.#follow();
    return talk;
  }

  /** Sends a message; resolves at the turn's end, and rejects if the turn does not end as expected. */
  async sendTurn(message: string): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#turn = turn;
    this.#isHeld = message.startsWith('hold ');
    await this.#connection.post(`${this.sessionId}/send`, { message });
    await turn.promise;
  }

  async end(): Promise<void> {
    this.#socket?.close();
    await this.#connection.post(`${this.sessionId}/kill`, {});
  }

  /** Loads the session again. */
  async load(): Promise<void> {
    await this.#connection.post(`${this.sessionId}/load`, {});
    await this.#follow();
  }

  async #follow(): Promise<void> {
    this.#socket = await this.#connection.follow(this.sessionId, (message) => this.#take(message));
    this.#socket.on('error', (error) => this.#turn?.reject(error));
  }

  #take(message: ServerMessage): void {
    if (message.type === 'session:error') this.#turn?.reject(new Error(message.message));
    if (message.type === 'session:upsert') this.#answer(message.payload);
    if (message.type !== 'session:turn') return;
    const { payload } = message;
    if (payload.type === 'turn_error') this.#turn?.reject(new Error(payload.errorMessage));
    if (payload.type !== 'turn_complete') return;
    const wanted = this.#isHeld ? 'cancelled' : 'completed';
    if (payload.status === wanted) this.#turn?.resolve();
    else this.#turn?.reject(new Error(`A turn ended as ${payload.status}, not as ${wanted}.`));
  }

  #answer(upsert: UpsertObject): void {
    if (upsert.status !== 'create') return;
    if (upsert.type === 'tool_call' && this.#isHeld) this.#ask('cancel', {});
    if (upsert.type !== 'approval') return;
    const [option] = upsert.options;
    this.#ask(`approval/${upsert.approvalId}`, { optionId: option?.optionId });
  }

  #ask(what: string, body: object): void {
    this.#connection.post(`${this.sessionId}/${what}`, body).catch((error: unknown) => {
      this.#turn?.reject(error);
    });
  }
}
