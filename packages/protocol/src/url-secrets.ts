/** How a URL begins. */
const begin = /\b([a-z][a-z\d+.-]{0,30}):\/\//gi;
/** What ends a URL in a text. After a comma, the next one of a list begins. */
const end = /[\s"'`<>\\]|,\s*[a-z][a-z\d+.-]{0,30}:\/\//gi;
/** Convex's keys: a deployment's name and its secret. */
const deployKey = /\b([a-z][\w:.-]{0,100})\|[\w+/=-]{16,10000}/gi;

const hidden = '***';

/**
 * Hides all possible secrets of the URLs in a text for people or logs: user and password, the values of the query, the
 * fragment, and Convex's deploy keys anywhere. A URL in JSON stays JSON. A text may have any length.
 */
export function hideUrlSecrets(text: string): string {
  let shown = '';
  let from = 0;
  for (const { 0: start, 1: scheme = '', index } of text.matchAll(begin)) {
    // The URL before it has it in itself.
    if (index < from) continue;
    const place = index + start.length;
    end.lastIndex = place;
    const to = end.exec(text)?.index ?? text.length;
    if (to === place) continue;
    shown += text.slice(from, place) + withoutSecrets(scheme, text.slice(place, to));
    from = to;
  }
  return (shown + text.slice(from)).replaceAll(deployKey, `$1|${hidden}`);
}

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
 * Web addresses may have an "@" in their path; in a database's address it comes only after a password, with any
 * characters.
 */
function endOfUser(scheme: string, rest: string): number {
  const isWeb = /^https?$/i.test(scheme);
  const place = isWeb ? rest.split(/[/?#]/, 1)[0] : rest;
  return (place ?? '').lastIndexOf('@') + 1;
}

/** A part without a name may itself be a secret. */
function hideValues(query: string): string {
  const names = query
    .split('&')
    .map((pair) => (pair.includes('=') ? pair.split('=', 1)[0] : undefined));
  return names.includes(undefined) ? hidden : names.map((name) => `${name}=${hidden}`).join('&');
}
