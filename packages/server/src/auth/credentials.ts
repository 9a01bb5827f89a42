import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a browser holds that is signed in. Neither opens anything alone. */
export interface Device {
  /** Goes to every port of our host, as cookies do: whoever is asked there can read it. */
  cookie: string;
  /** Kept where only pages of our own origin can read it, and sent with every request. */
  key: string;
}

/** Remembers which browsers are signed out; those that are in need no memory. */
export interface SignedOut {
  has(deviceId: string): boolean;
  add(deviceId: string): void;
  /** Every browser that has signed in until now. */
  addAll(): void;
}

/** What a request can prove itself with. */
export interface Credentials {
  isToken(candidate: string): boolean;
  /** A code for a link that signs one browser in, once. */
  newCode(): string;
  /** What a link with this does: it opens the door (`in`), has done so before (`used`), or never did. */
  takeLink(candidate: string): 'in' | 'used' | 'unknown';
  newDevice(): Device;
  /** The browser that a cookie is of, if it is signed in. */
  deviceOf(cookie: string): string | undefined;
  isKeyOf(deviceId: string, candidate: string): boolean;
  readonly signedOut: SignedOut;
}

/** So many codes wait for their browsers; then the oldest is worth nothing any more. */
const maxCodes = 100;

/**
 * The token opens everything: it comes as a bearer token, or in a link that signs a browser in, as a code does. What a
 * browser holds then follows from the token and the browser's own id, so any server with the same token takes it.
 */
export function createCredentials(token: string, signedOut = inMemory()): Credentials {
  const codes = new Set<string>();
  const used = new Set<string>();
  const sign = (what: string, deviceId: string): string =>
    createHmac('sha256', token).update(`liminal ${what} ${deviceId}`).digest('base64url');
  return {
    signedOut,
    isToken: (candidate) => isEqual(candidate, token),
    newCode: () => {
      const code = randomBytes(24).toString('base64url');
      keep(codes, hashOf(code));
      return code;
    },
    takeLink: (candidate) => {
      if (isEqual(candidate, token)) return 'in';
      const hash = hashOf(candidate);
      if (used.has(hash)) return 'used';
      if (!codes.delete(hash)) return 'unknown';
      keep(used, hash);
      return 'in';
    },
    newDevice: () => {
      const deviceId = `${Date.now().toString(36)}-${randomBytes(12).toString('base64url')}`;
      return { cookie: `${deviceId}.${sign('cookie', deviceId)}`, key: sign('key', deviceId) };
    },
    deviceOf: (cookie) => {
      const [deviceId = '', mac = ''] = cookie.split('.');
      const isOurs = isEqual(mac, sign('cookie', deviceId));
      return isOurs && !signedOut.has(deviceId) ? deviceId : undefined;
    },
    isKeyOf: (deviceId, candidate) => isEqual(candidate, sign('key', deviceId)),
  };
}

/** When a browser signed in (ms since the epoch). */
export function signedInAt(deviceId: string): number {
  return Number.parseInt(deviceId.split('-')[0] ?? '', 36);
}

function keep(hashes: Set<string>, hash: string): void {
  hashes.add(hash);
  const [oldest] = hashes;
  if (hashes.size > maxCodes && oldest !== undefined) hashes.delete(oldest);
}

/** Until the server ends. */
function inMemory(): SignedOut {
  const out = new Set<string>();
  let before = 0;
  return {
    has: (deviceId) => out.has(deviceId) || signedInAt(deviceId) < before,
    add: (deviceId) => void out.add(deviceId),
    addAll: () => void (before = Date.now() + 1),
  };
}

/** Takes as long for a near miss as for a far one, whatever the lengths. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** What a code is looked up by. */
function hashOf(code: string): string {
  return digest(code).toString('base64url');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
