/** A URL in a text. The next one of a list, after a comma, is another. */
const url = /\b([a-z][a-z\d+.-]{0,30}):\/\/((?:(?!,\s*[a-z][a-z\d+.-]{0,30}:\/\/)[^\s"'`<>\\])+)/gi;
/** Convex' keys: a deployment's name, and what opens it. */
const deployKey = /\b([a-z][\w:.-]{0,100})\|[\w+/=-]{16,}/gi;

const hidden = '***';

/**
 * A text for people or logs, with all that may be secret in its URLs hidden: user and password, the values of the
 * query, the fragment, and Convex' deploy keys wherever they stand. A URL in JSON stays JSON.
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

/** Web addresses may have an "@" in their path; a database's address has it behind a password alone, which may hold anything. */
function endOfUser(scheme: string, rest: string): number {
  const isWeb = /^https?$/i.test(scheme);
  const place = isWeb ? rest.split(/[/?#]/, 1)[0] : rest;
  return (place ?? '').lastIndexOf('@') + 1;
}

/** What has no name may be a secret itself. */
function hideValues(query: string): string {
  const names = query
    .split('&')
    .map((pair) => (pair.includes('=') ? pair.split('=', 1)[0] : undefined));
  return names.includes(undefined) ? hidden : names.map((name) => `${name}=${hidden}`).join('&');
}
