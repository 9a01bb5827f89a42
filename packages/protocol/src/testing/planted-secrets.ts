/** A made-up secret that a rule finds, in a typical text. In `around`, `¤` stands for the secret. */
export interface PlantedSecret {
  rule: string;
  secret: string;
  around: string;
}

const letters = 'Q7dPx2LmZr9TkB4vWc8Ys1Nf';

/** The ends of the names of settings whose values are secrets. */
export const secretNames = [
  'api_key',
  'apikey',
  'access_key',
  'accesskey',
  'secret_key',
  'secretkey',
  'private_key',
  'privatekey',
  'deploy_key',
  'deploy-key',
  'token',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'credential',
  'credentials',
];

/** Names of query parameters whose values are secrets. */
const queryNames =
  'token secret password passwd signature credential x-amz-signature key sig auth my_key my.sig my-auth apikey apisig accesskey accessauth code awsaccesskeyid'.split(
    ' ',
  );

/**
 * At least one secret for each alternative of each rule: if a rule loses an alternative, only that alternative's secret
 * is no longer found.
 */
export const plantedSecrets: readonly PlantedSecret[] = [
  planted('anthropic-key', `sk-ant-api03-${letters}-_AA`),
  planted('openai-key', `sk-proj-${letters}${letters}`),
  planted('openai-key', `sk-${letters}${letters}`),
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((kind) =>
    planted('github-token', `${kind}_${letters}${letters}`),
  ),
  planted('github-token', `github_pat_${letters}_${letters}`),
  ...['pat', 'dt', 'rt', 'ptt', 'cbt', 'oas', 'agent', 'soat', 'ffct', 'imt'].map((kind) =>
    planted('gitlab-token', `gl${kind}-${letters}`),
  ),
  ...['xoxb', 'xoxp', 'xapp'].map((kind) =>
    planted('slack-token', `${kind}-123456789012-${letters}`),
  ),
  planted('slack-token', `T0AAAAAAA/B0AAAAAAA/${letters}`, 'https://hooks.slack.com/services/¤'),
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map((kind) =>
    planted('aws-access-key', `${kind}Q7DPX2LMZR9TKB4V`),
  ),
  planted('google-key', `AIza${letters}${letters.slice(0, 11)}`),
  planted('google-key', `ya29.${letters}`),
  planted('google-key', `GOCSPX-${letters}`),
  planted('npm-token', `npm_${letters}${letters}`),
  planted('huggingface-token', `hf_${letters}`),
  ...['sk_live', 'sk_test', 'rk_live', 'rk_test'].map((kind) =>
    planted('stripe-key', `${kind}_${letters}`),
  ),
  ...['prod', 'dev', 'preview', 'project'].map((kind) =>
    planted('convex-deploy-key', `${letters}=`, `${kind}:quick-fox-12|¤`),
  ),
  planted('jwt', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${letters}`),
  planted('bearer', letters, 'curl -H "authorization: Bearer ¤" there'),
  planted('header', 'YWRhOmh1bnRlcjI=', 'Authorization: Basic ¤\nAccept: */*'),
  ...['basic', 'token', 'digest', 'apikey'].map((scheme) =>
    planted('header', `some ${letters}`, `Proxy-Authorization: ${scheme} ¤`),
  ),
  planted('header', letters, 'Authorization: ¤'),
  ...['x-api-key', 'api-key', 'private-token', 'x-goog-api-key', 'x-vault-token'].map((name) =>
    planted('header', letters, `${name}: ¤`),
  ),
  planted('header', letters, 'curl -H "x-figma-key: ¤" there'),
  planted('header', `sid=${letters}`, 'set-cookie: ¤'),
  planted('header', `sid=${letters}; theme=dark`, 'Cookie: ¤\nHost: a'),
  planted('private-key', pem('\n')),
  planted('private-key', pem('\r\n', '', '')),
  planted('private-key', pem('\n', 'PGP ', ' BLOCK')),
  planted('private-key', pem('\\r\\n'), '"key": "¤"'),
  planted('private-key', pem('\n').replace(/-----END.*$/, ''), '"¤"'),
  planted('private-key', pem('\\n'), '"key": "¤"'),
  planted('url-password', 'ada:hunter2hunter2', 'git clone https://¤@example.org/a.git'),
  planted('url-password', letters, 'https://¤@github.com/a/b'),
  planted('url-password', letters, 'http://¤@localhost/a'),
  planted('url-password', ':hunter2', 'rediss://¤@localhost:6379'),
  planted('url-password', 'ada:hunter2', 'mongodb+srv://¤@localhost'),
  planted('url-password', 'ada:p/w?#x', 'postgres://¤@db.example.org/main'),
  planted('url-query', letters, 'GET https://example.org/a?page=2&access_token=¤&x=1'),
  planted('url-query', letters, 'GET /a?page=2;sig=¤&x=1'),
  ...queryNames.map((name) => planted('url-query', letters, `GET /a?${name}=¤`)),
  planted('assignment', 'hunter2', 'DB_PASSWORD=¤ npm start'),
  planted('assignment', 'hunter2', 'export STRIPE_SECRET="¤"'),
  planted('assignment', 'correct horse battery', "password = '¤'"),
  planted('assignment', 'pa\\"ss word', '{"user": "ada", "password": "¤", "port": 1}'),
  planted('assignment', letters, '{"apiKey":"¤"}'),
  planted('assignment', letters, String.raw`{"env":"{\"MY_TOKEN\":\"¤\"}"}`),
  planted('assignment', 'hunter2', 'SMTP_PASS=¤ npm start'),
  planted('assignment', 'hunter2', 'export MYSQL_PWD="¤"'),
  planted('assignment', 'ada:hunter2', 'PROXY_AUTH=¤\nPWD=/home/ada/work'),
  planted('assignment', 'hunter2', '{"db_pass":"¤"}'),
  planted('assignment', 'hunter2', 'mail:\n  smtp-pass: ¤\n  port: 1'),
  planted('assignment', 'hunter2', 'database:\n  password: ¤\n  port: 1'),
  ...secretNames.flatMap((name) => [
    planted('assignment', 'hunter2', `export MY${name}=¤ now`),
    planted('assignment', 'hunter2', `a:\n  my${name}: ¤\n  port: 1`),
    planted('assignment', 'correct horse', `my${name} => "¤"`),
    planted('assignment', 'correct horse', String.raw`{\"my${name}\":\"¤\"}`),
  ]),
  planted('assignment', 'correct horse', 'let password = `¤`'),
  planted('assignment', 'correct horse', String.raw`"{\'password\': \'¤\'}"`),
];

function planted(rule: string, secret: string, around = 'It is ¤ , he said.'): PlantedSecret {
  return { rule, secret, around };
}

function pem(newLine: string, before = 'RSA ', after = ''): string {
  const lines = [letters, letters, letters];
  const kind = `${before}PRIVATE KEY${after}`;
  return [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`].join(newLine);
}
