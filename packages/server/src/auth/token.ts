import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** What a request can prove itself with. */
export interface Credentials {
  isToken(candidate: string): boolean;
  isCookie(candidate: string): boolean;
  /** Whether a link with this opens the door; one that does so once has done it then. */
  takeLink(candidate: string): boolean;
  /** The cookie's value: follows from the token, but does not give it away. */
  readonly cookie: string;
}

/** The token opens everything: it comes as a bearer token, or in a link that trades it for a cookie. */
export function createCredentials(token: string, linkOnce?: string): Credentials {
  let once = linkOnce;
  const cookie = createHmac('sha256', token).update('liminal cookie').digest('base64url');
  return {
    cookie,
    isToken: (candidate) => isEqual(candidate, token),
    isCookie: (candidate) => isEqual(candidate, cookie),
    takeLink: (candidate) => {
      if (isEqual(candidate, token)) return true;
      if (once === undefined || !isEqual(candidate, once)) return false;
      once = undefined;
      return true;
    },
  };
}

/** Takes as long for a near miss as for a far one, whatever the lengths. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
