/** The start of a URL. */
const urlStart = /\b([a-z][a-z\d+.-]{0,30}):\/\//gi;
/** The end of a URL in a text. After a comma, another URL of a list begins. */
const urlEnd = /[\s"'`<>\\]|,\s*[a-z][a-z\d+.-]{0,30}:\/\//gi;
/** A deploy key of Convex: a deployment's name and its secret. */
const deployKey = /\b([a-z][\w:.-]{0,100})\|[\w+/=-]{16,10000}/gi;

const hidden = '***';

/**
 * Returns a text for people or logs, in which the possible secrets of all URLs are hidden: user and password, the
 * values of the query, the fragment, and also Convex's deploy keys outside of URLs. The text may have any length. If
 * the URL is part of JSON, the JSON remains valid.
 */
export function hideUrlSecrets(text: string): string {
  let shown = '';
  let from = 0;
  let end = 0;
  const starts = text.matchAll(urlStart);
  for (let next = starts.next(); !next.done;) {
    const { 0: start, 1: scheme = '', index } = next.value;
    next = starts.next();
    // If a URL is part of the query or the fragment of the URL before it, both URLs are hidden together.
    if (index < from) continue;
    const place = index + start.length;
    if (place > end) {
      urlEnd.lastIndex = place;
      end = urlEnd.exec(text)?.index ?? text.length;
    }
    if (end === place) continue;
    const inPath = next.done ? undefined : urlInPath(scheme, text.slice(place, next.value.index));
    const to = inPath === undefined ? end : Math.min(end, place + inPath);
    shown += text.slice(from, place) + withoutSecrets(scheme, text.slice(place, to));
    from = to;
  }
  return (shown + text.slice(from)).replaceAll(deployKey, `$1|${hidden}`);
}

/**
 * Returns the length of a web address up to a second URL in its path; the password of the second URL is hidden as well.
 * Returns undefined if the second URL is not in the path. `before` is the text between the starts of the two URLs.
 */
function urlInPath(scheme: string, before: string): number | undefined {
  const isInPath = isWeb(scheme) && before.includes('/') && !/[?#]/.test(before);
  return isInPath ? before.length : undefined;
}

const isWeb = (scheme: string): boolean => /^https?$/i.test(scheme);

function withoutSecrets(scheme: string, rest: string): string {
  const user = endOfUser(scheme, rest);
  const [address, fragment] = cutAt('#', rest.slice(user));
  const [place, query] = cutAt('?', address);
  return [
    user > 0 ? `${hidden}@` : '',
    place,
    query === undefined ? '' : `?${hideValues(query)}`,
    fragment === undefined ? '' : `#${hidden}`,
  ].join('');
}

function cutAt(mark: string, text: string): [before: string, after: string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Returns the end of the user part in a URL. In a web address, an "@" may also be part of the path. In a database's
 * address, an "@" can only follow the password, and the password may contain any characters.
 */
function endOfUser(scheme: string, rest: string): number {
  const place = isWeb(scheme) ? rest.split(/[/?#]/, 1)[0] : rest;
  return (place ?? '').lastIndexOf('@') + 1;
}

/** Hides the values of a query, and parts without a name, because such parts may be secrets. */
function hideValues(query: string): string {
  const names = query
    .split('&')
    .map((pair) => (pair.includes('=') ? pair.split('=', 1)[0] : undefined));
  return names.includes(undefined) ? hidden : names.map((name) => `${name}=${hidden}`).join('&');
}
