import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRequests, type Requests } from '@liminal/client';
import {
  freePort,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from '@liminal/testkit';
import { Census } from '../faults/census.ts';
import { type Fault, play } from './faults.ts';
import { Member, type MemberSettings, type Ways } from './member.ts';
import { ChaosUser } from './chaos-user.ts';
import { ChaosSubscriber } from './chaos-subscriber.ts';
import { Wire } from './wire.ts';
import { RedisLogReader } from './redis-log-reader.ts';

/** The longest time from a server's death to the end of its turns, in ms. */
const leaseMs = 2_000;
const servers = 3;
const subscribersPerSession = 2;
/**
 * The log must be trimmed often, and Redis must never rewrite its file, so that the witness finds every command that
 * was ever written.
 */
const redisSettings = { 'auto-aof-rewrite-percentage': '0', 'stream-node-max-entries': '10' };
const token = 'a-token-that-all-servers-share';

/** Three servers and two projectors on one Redis and one database, with all their users. */
export class ChaosWorld {
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  readonly servers: Member[];
  readonly projectors: Member[];
  /** The proxies for users' commands. Each server has one proxy. */
  readonly wires: Wire[] = [];
  readonly requests: Requests[] = [];
  readonly subscribers: ChaosSubscriber[] = [];
  readonly users: ChaosUser[] = [];
  readonly logReader: RedisLogReader;
  readonly census: Census;
  readonly settings: MemberSettings;
  /** The faults that were played, with their times. */
  readonly log: string[] = [];
  readonly #busy = new Map<string, Promise<void>>();
  readonly #began = performance.now();

  private constructor(
    services: { redis: RedisServer; postgres: PostgresServer },
    settings: MemberSettings,
    places: readonly { port: number; ways: Ways }[],
    census: Census,
  ) {
    this.redis = services.redis;
    this.postgres = services.postgres;
    this.settings = settings;
    this.census = census;
    this.logReader = new RedisLogReader(services.redis, settings.prefix);
    this.servers = places.map(({ port, ways }, index) => {
      const redisUrl = through(ways.redis, settings.redisUrl);
      const databaseUrl = through(ways.database, settings.databaseUrl);
      const own = { ...settings, redisUrl, databaseUrl, port, projects: index === 0 };
      return new Member(`server ${index}`, own, ways);
    });
    this.projectors = [0, 1].map(
      (index) => new Member(`projector ${index}`, { ...settings, role: 'projector' }),
    );
  }

  static async start(): Promise<ChaosWorld> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-chaos-')));
    const census = new Census([root]);
    const [redis, postgres] = await Promise.all([
      startRedis({ appendOnly: true, settings: redisSettings }),
      startPostgres(),
    ]);
    const ways: Ways[] = [];
    while (ways.length < servers) {
      ways.push({ redis: await wayTo(redis.url), database: await wayTo(postgres.url) });
    }
    const places: { port: number; ways: Ways }[] = [];
    // Choose a port only after the earlier ports are in use. Otherwise the same port could be chosen twice.
    for (const own of ways) places.push({ port: await freePort(), ways: own });
    const settings: MemberSettings = {
      role: 'server',
      projects: true,
      redisUrl: redis.url,
      prefix: 'chaos',
      databaseUrl: postgres.url,
      schema: 'chaos',
      leaseMs: leaseMs,
      root,
      token,
      port: 0,
    };
    const world = new ChaosWorld({ redis, postgres }, settings, places, census);
    await Promise.all([...world.servers, ...world.projectors].map((member) => member.start()));
    for (const { port } of places) {
      const wire = await Wire.open([port], 0);
      world.wires.push(wire);
      world.requests.push(createRequests({ baseUrl: wire.origin, token }));
    }
    return world;
  }

  /** Creates sessions. In each session, one user talks and several users watch. */
  async populate(sessions: number, seed: number): Promise<void> {
    for (let index = 0; index < sessions; index += 1) {
      const sessionId = await this.#create(index);
      const own: ChaosSubscriber[] = [];
      while (own.length < subscribersPerSession) {
        own.push(await this.subscribe(sessionId, index + own.length));
      }
      this.subscribers.push(...own);
      const [watcher] = own;
      if (!watcher) throw new Error('No watcher is connected.');
      const name = `${seed} ${index}`;
      this.users.push(new ChaosUser(name, seed + index, this, watcher));
    }
    for (const person of this.users) person.start();
  }

  /** Creates a user's session. Retries, because on a busy machine Redis or the database may seem unreachable. */
  async #create(index: number): Promise<string> {
    const request = { cliType: 'talking', projectDir: this.settings.root };
    for (let tries = 1; ; tries += 1) {
      try {
        const made = await this.requests[(index + tries) % servers]?.createSession(request);
        if (made) return made.sessionId;
      } catch (error) {
        if (tries === 10) throw error;
        await delay(300);
      }
    }
  }

  async subscribe(sessionId: string, at: number): Promise<ChaosSubscriber> {
    const ports = this.servers.map(({ settings }) => settings.port);
    return ChaosSubscriber.open({ ports, token, sessionId, at });
  }

  /** Plays faults one after another. Faults may overlap, but never on the same victim. */
  async suffer(faults: readonly Fault[]): Promise<void> {
    const suffering: Promise<void>[] = [];
    for (const fault of faults) {
      await delay(fault.gapMs);
      const { kind, who, where, ms } = fault;
      this.note(`${kind} (${who}, ${where}, ${ms} ms)`);
      if (!kind.startsWith('reader')) for (const watcher of this.subscribers) watcher.remember();
      suffering.push(play(this, fault).then(() => this.note(`works again: ${kind} (${who})`)));
    }
    await Promise.all(suffering);
    this.note('everything works again');
  }

  /** Runs the steps for one victim one after another. */
  async alone(victim: string, step: () => Promise<void>): Promise<void> {
    const before = this.#busy.get(victim) ?? Promise.resolve();
    const own = before.then(step);
    this.#busy.set(victim, own);
    await own;
    if (this.#busy.get(victim) === own) this.#busy.delete(victim);
  }

  /** Whether a fault is being played on the victim. */
  isBusy(victim: string): boolean {
    return this.#busy.has(victim);
  }

  note(what: string): void {
    this.log.push(`${Date.now()} ${Math.round(performance.now() - this.#began)} ms: ${what}`);
  }

  /** Returns the servers and projectors that ended unexpectedly or with an error. */
  get crashed(): string[] {
    const members = [...this.servers, ...this.projectors];
    return members.flatMap(({ name, crashes }) => (crashes > 0 ? [name] : []));
  }

  /** Ends everything. */
  async end(): Promise<void> {
    await Promise.all(this.users.map((person) => person.leave()));
    await Promise.all(this.subscribers.map((watcher) => watcher.close()));
    const members = [...this.servers, ...this.projectors];
    await Promise.all(members.map((member) => member.leave()));
    this.logReader.close();
    await Promise.all(this.wires.map((wire) => wire.close()));
    await Promise.all([this.redis.stop(), this.postgres.stop()]);
    await this.census.untilEmpty();
    await rm(this.settings.root, { recursive: true, force: true });
  }
}

const wayTo = async (url: string): Promise<Wire> => Wire.open([Number(new URL(url).port)], 0);

/** Returns the URL with the port of this proxy. */
function through(way: Wire, url: string): string {
  const other = new URL(url);
  other.port = new URL(way.origin).port;
  return other.href;
}
