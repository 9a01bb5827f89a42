import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap } from '@liminal/protocol';

/**
 * The credentials of a signed-in browser. The cookie without the key, or the key without the cookie, gives no access.
 */
export interface Device {
  /** The cookie. Browsers send a cookie to every port of a host, so other programs on the host can read the cookie. */
  cookie: string;
  /**
   * The key. The browser stores the key where only pages of our own origin can read it, and sends the key with every
   * request.
   */
  key: string;
}

/**
 * The signed-out browsers; signed-in browsers are not stored. If `add` or `addAll` throws, the sign-out is in effect
 * but could not be stored.
 */
export interface SignedOut {
  /**
   * A number that increases each time that every browser is signed out. Sign-ins of earlier generations are invalid.
   */
  readonly generation: number;
  has(deviceId: string): boolean;
  add(deviceId: string): void;
  /** Signs out every browser that was signed in before this call. */
  addAll(): void;
  /** Calls the listener after each change. */
  watch(listener: () => void): void;
}

/** Checks the credentials of requests. */
export interface Credentials {
  isToken(candidate: string): boolean;
  /** Makes a code for a sign-in link. The code signs in one browser, once. */
  newCode(): string;
  /**
   * Uses a sign-in link. The result is `in` if the link was valid, `used` if the link was used before, or `unknown`.
   */
  takeLink(candidate: string): 'in' | 'used' | 'unknown';
  newDevice(): Device;
  /** Returns the id of the browser in a cookie, if that browser is signed in. */
  deviceOf(cookie: string): string | undefined;
  isKeyOf(deviceId: string, candidate: string): boolean;
  readonly signedOut: SignedOut;
}

/** The maximum number of unused codes. One more code makes the oldest code invalid. */
const maxCodes = 100;

/**
 * Checks the token and the credentials of browsers. The token gives full access: as a bearer token, or in a link that
 * signs a browser in, like a code. A browser's credentials are derived from the token and the browser's id, so every
 * server with the same token accepts them.
 */
export function createCredentials(token: string, signedOut = signedOutInMemory()): Credentials {
  const codes = new BoundedMap<string, true>(maxCodes);
  const used = new BoundedMap<string, true>(maxCodes);
  const sign = (what: string, deviceId: string): string =>
    createHmac('sha256', token).update(`liminal ${what} ${deviceId}`).digest('base64url');
  return {
    signedOut,
    isToken: (candidate) => isEqual(candidate, token),
    newCode: () => {
      const code = randomBytes(24).toString('base64url');
      codes.set(codeHash(code), true);
      return code;
    },
    takeLink: (candidate) => {
      if (isEqual(candidate, token)) return 'in';
      const hash = codeHash(candidate);
      if (used.has(hash)) return 'used';
      if (!codes.delete(hash)) return 'unknown';
      used.set(hash, true);
      return 'in';
    },
    newDevice: () => {
      const deviceId = newDeviceId(signedOut.generation);
      return { cookie: `${deviceId}.${sign('cookie', deviceId)}`, key: sign('key', deviceId) };
    },
    deviceOf: (cookie) => {
      const [deviceId = '', mac = ''] = cookie.split('.', 2);
      const isOurs = mac !== '' && isEqual(mac, sign('cookie', deviceId));
      return isOurs && !signedOut.has(deviceId) ? deviceId : undefined;
    },
    isKeyOf: (deviceId, candidate) => isEqual(candidate, sign('key', deviceId)),
  };
}

/** `TIME~GENERATION~RANDOM`. TIME and GENERATION are numbers in base 36. */
function newDeviceId(generation: number): string {
  const [time, count] = [Date.now().toString(36), generation.toString(36)];
  return `${time}~${count}~${randomBytes(12).toString('base64url')}`;
}

/**
 * Whether a browser signed in before this generation began. An id without a generation is from the time before the
 * first generation.
 */
export function isBefore(generation: number, deviceId: string): boolean {
  const count = Number.parseInt(deviceId.split('~')[1] ?? '', 36);
  return !(count >= generation);
}

/** Stores sign-outs in memory. They are lost when the server stops. */
function signedOutInMemory(): SignedOut {
  const out = new Set<string>();
  const listeners: (() => void)[] = [];
  let generation = 0;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    get generation() {
      return generation;
    },
    has: (deviceId) => out.has(deviceId) || isBefore(generation, deviceId),
    add: (deviceId) => {
      out.add(deviceId);
      changed();
    },
    addAll: () => {
      generation += 1;
      changed();
    },
    watch: (listener) => void listeners.push(listener),
  };
}

/** Compares two texts. The time of the comparison does not depend on the texts' content. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** Returns the SHA-256 of a code. The code is stored under this hash. */
function codeHash(code: string): string {
  return digest(code).toString('base64url');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
