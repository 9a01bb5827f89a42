/**
 * The rules for secrets in a text. docs/exports.md lists the rules for people, and a test compares that list with this
 * table. Each pattern takes linear time: it begins with a fixed word, does not repeat a repetition, and requires
 * nothing after an unlimited repetition. An unlimited repetition is written `{n,}`, never `*` or `+`, because the
 * finder replaces it with a limited repetition.
 */

interface SecretRule {
  /** The name of the rule; the mark that replaces a secret contains this name. */
  readonly id: string;
  /** A description of the kind of secret, for people. */
  readonly what: string;
  /** The secret is the match's group `secret`, or the whole match if the pattern has no such group. */
  readonly patterns: readonly RegExp[];
  /**
   * Finds the start of a secret in quotes, up to the opening quote (the group `quote`); the next quote of the same kind
   * ends the secret.
   */
  readonly openings?: readonly RegExp[];
}

/** The ends of the names of settings whose values are secrets. */
const secretName = String.raw`(?:api_?key|access_?key|secret_?key|private_?key|[_-](?:key|pass|pwd|auth)|token|secret|password|passwd|passphrase|credentials?)`;
/** Excludes values that refer to a secret or are already masked: `$TOKEN`, `<token>`, `***`. */
const noReference = String.raw`(?![$<%*{(\[]|process\.env|os\.environ|(?:true|false|null|none|undefined)\b)`;
/** The end of a quoted or unquoted name, in JSON or in JSON within JSON. */
const endOfName = String.raw`\\{0,7}["']?`;
const is = String.raw`\s{0,3}(?::|=>?)\s{0,3}`;
const secretHeader = String.raw`(?<![A-Za-z0-9])(?:proxy-)?authorization`;
const tokenHeader = String.raw`(?<![A-Za-z0-9])(?:x-[a-z]{1,20}-(?:api-)?(?:key|token)|x-api-key|api-key|private-token)`;

/** If several rules find the same secret, the mark contains the id of the first of these rules. */
export const secretRules: readonly SecretRule[] = [
  {
    id: 'private-key',
    what: 'private keys in PEM, also if the end is missing',
    patterns: [
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)(?:[A-Za-z0-9+/=:,.\s-]|\\{1,7}[nr])){0,}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/g,
    ],
  },
  {
    id: 'anthropic-key',
    what: 'keys of Anthropic (`sk-ant-…`)',
    patterns: [/\bsk-ant-[\w-]{16,}/g],
  },
  {
    id: 'openai-key',
    what: 'keys of OpenAI, and keys of other makers that begin with `sk-`',
    // The search for a digit stops at another `-sk-`. Otherwise, the search at each `sk-` would read 200 characters.
    patterns: [/\bsk-(?=(?:(?!-sk-)[\w-]){0,200}\d)[\w-]{20,}/g],
  },
  {
    id: 'github-token',
    what: 'tokens of GitHub (`ghp_…`, `gho_…`, `ghu_…`, `ghs_…`, `ghr_…`, `github_pat_…`)',
    patterns: [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, /\bgithub_pat_\w{20,}/g],
  },
  {
    id: 'gitlab-token',
    what: 'tokens of GitLab (`glpat-…` and similar prefixes)',
    patterns: [/\bgl(?:pat|dt|rt|ptt|cbt|oas|agent|soat|ffct|imt)-[\w-]{16,}/g],
  },
  {
    id: 'slack-token',
    what: 'tokens of Slack (`xoxb-…`, `xapp-…`) and addresses of its webhooks',
    patterns: [
      /\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}/g,
      /\bhooks\.slack\.com\/services\/(?<secret>[\w/]{20,})/dg,
    ],
  },
  {
    id: 'aws-access-key',
    what: 'access key ids of AWS (`AKIA…`, `ASIA…`)',
    patterns: [/\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g],
  },
  {
    id: 'google-key',
    what: 'keys and tokens of Google (`AIza…`, `ya29.…`, `GOCSPX-…`)',
    patterns: [/\bAIza[\w-]{30,}/g, /\bya29\.[\w-]{20,}/g, /\bGOCSPX-[\w-]{20,}/g],
  },
  { id: 'npm-token', what: 'tokens of npm (`npm_…`)', patterns: [/\bnpm_[A-Za-z0-9]{30,}/g] },
  {
    id: 'huggingface-token',
    what: 'tokens of Hugging Face (`hf_…`)',
    patterns: [/\bhf_[A-Za-z0-9]{20,}/g],
  },
  {
    id: 'stripe-key',
    what: 'keys of Stripe (`sk_live_…`, `rk_test_…`)',
    patterns: [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g],
  },
  {
    id: 'convex-deploy-key',
    what: 'deploy keys of Convex',
    patterns: [/\b(?:prod|dev|preview|project):[\w:.-]{1,100}\|(?<secret>[\w+/=-]{16,})/dg],
  },
  {
    id: 'jwt',
    what: 'JSON Web Tokens (`eyJ….eyJ….…`)',
    // The first part ends before another `-eyJ`. Otherwise, the search at each `eyJ` would read all following tokens.
    patterns: [/\beyJ(?:(?!-eyJ)[\w-]){8,2000}\.eyJ[\w-]{8,}(?:\.[\w-]{0,})?/g],
  },
  {
    id: 'bearer',
    what: 'the value after `Bearer`',
    patterns: [/\bBearer\s{1,3}(?<secret>(?=[\w.~+/=-]{0,400}\d)[\w.~+/=-]{8,})/dgi],
  },
  {
    id: 'header',
    what: 'values of the headers `Authorization`, `Cookie`, `Set-Cookie`, `X-Api-Key` and similar ones',
    patterns: [
      new RegExp(
        String.raw`${secretHeader}${endOfName}\s{0,3}[:=]\s{0,3}${endOfName}(?:basic|token|digest|apikey|negotiate|aws4-hmac-sha256)\s{1,3}${noReference}(?<secret>[^\n"'\\]{4,})`,
        'dgi',
      ),
      new RegExp(
        String.raw`(?:${secretHeader}|${tokenHeader})${endOfName}\s{0,3}[:=]\s{0,3}${endOfName}${noReference}(?<secret>[^\s"'\\]{8,})`,
        'dgi',
      ),
      /(?<![A-Za-z0-9])(?:set-)?cookie\\{0,7}["']?\s{0,3}:\s{0,3}\\{0,7}["']?(?<secret>[^\s"'\\=;]{1,200}=[^\n"'\\]{2,})/dgi,
    ],
  },
  {
    id: 'url-password',
    what: 'user and password in an address (`https://user:password@host`), or a token in their place',
    patterns: [
      /\bhttps?:\/\/(?!\*\*\*@)(?<secret>[^\s/?#@"'`<>\\[\]]{1,400})@/dgi,
      /\b(?!https?:)[a-z][a-z\d+.-]{1,30}:\/\/(?<secret>[^\s:/?#@"'`<>\\[\]]{0,200}:[^\s"'`<>\\[\]]{1,400})@/dgi,
    ],
  },
  {
    id: 'url-query',
    what: 'query values in an address whose names mark secrets (`?token=…`, `&sig=…`, `?code=…`)',
    patterns: [
      /[?&;](?:[\w.-]{0,40}?(?:token|secret|password|passwd|signature|credential)|(?:[\w.-]{0,40}[_.-])?(?:api|access)?(?:key|sig|auth)|code|awsaccesskeyid)=(?<secret>[^\s&"'`<>\\#[\]]{4,})/dgi,
    ],
  },
  {
    id: 'assignment',
    what: 'values of names such as `…_KEY`, `…TOKEN`, `…SECRET`, `…PASSWORD`, `…PASSPHRASE`, `…CREDENTIALS`, `…_PASS`, `…_PWD` or `…_AUTH`, in text, code, YAML and JSON',
    patterns: [
      // Values without quotes, and quoted values that are cut off before the closing quote.
      new RegExp(
        String.raw`${secretName}${endOfName}(?:=|${is}\\{0,7}["'\x60])${noReference}(?<secret>[^\s"'\x60\\&;|<>()[\]]{4,})`,
        'dgi',
      ),
      new RegExp(
        String.raw`(?<=^|\n|\\n)[ \t-]{0,40}[\w.-]{0,80}?${secretName}:[ \t]{1,8}${noReference}(?<secret>[^\s"'\x60\\[\]]{4,})(?=[ \t]{0,8}(?:$|\n|\r|\\{1,7}[nr]))`,
        'dgi',
      ),
    ],
    openings: [
      new RegExp(String.raw`${secretName}${endOfName}${is}(?<quote>["'\x60])${noReference}`, 'gi'),
      // Quoted values in JSON within JSON.
      new RegExp(
        String.raw`${secretName}${endOfName}${is}(?<quote>\\{1,7}["'])${noReference}`,
        'gi',
      ),
    ],
  },
];

/** The rule for known secrets. It has no pattern. */
export const knownSecretRule = {
  id: 'known',
  what: 'the exporting server’s own token and passwords, and values of its environment and configuration whose names show that they are secret',
} as const;

/** Returns whether a field with this name has a secret as its value. */
export function isSecretName(name: string): boolean {
  return wholeName.test(name);
}

const wholeName = new RegExp(String.raw`(?:authorization|cookie|${secretName})$`, 'i');
