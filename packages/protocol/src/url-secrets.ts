/** A URL in a text. After a comma, the next URL of a list begins. */
const url = /\b([a-z][a-z\d+.-]{0,30}):\/\/((?:(?!,\s*[a-z][a-z\d+.-]{0,30}:\/\/)[^\s"'`<>\\])+)/gi;
/** Convex's keys: a deployment's name and its secret. */
const deployKey = /\b([a-z][\w:.-]{0,100})\|[\w+/=-]{16,}/gi;

const hidden = '***';

/**
 * Hides all possible secrets of the URLs in a text for people or logs: user and password, the values of the query, the
 * fragment, and Convex's deploy keys anywhere. A URL in JSON stays JSON.
 */
export function hideUrlSecrets(text: string): string {
  return text
    .replaceAll(
      url,
      (_, scheme: string, rest: string) => `${scheme}://${withoutSecrets(scheme, rest)}`,
    )
    .replaceAll(deployKey, `$1|${hidden}`);
}

function withoutSecrets(scheme: string, rest: string): string {
  const [, place = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(
    rest.slice(endOfUser(scheme, rest)),
  ) ?? [rest];
  return [
    endOfUser(scheme, rest) > 0 ? `${hidden}@` : '',
    place,
    query && `?${hideValues(query.slice(1))}`,
    fragment && `#${hidden}`,
  ].join('');
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
