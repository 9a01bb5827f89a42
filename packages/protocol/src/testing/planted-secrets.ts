/** One secret of each kind that the rules know, made up, as texts have them. `around` has it in place of `¤`. */
export interface PlantedSecret {
  rule: string;
  secret: string;
  around: string;
}

const letters = 'Q7dPx2LmZr9TkB4vWc8Ys1Nf';

export const plantedSecrets: readonly PlantedSecret[] = [
  planted('anthropic-key', `sk-ant-api03-${letters}-_AA`),
  planted('openai-key', `sk-proj-${letters}${letters}`),
  planted('openai-key', `sk-${letters}${letters}`),
  planted('github-token', `ghp_${letters}${letters}`),
  planted('github-token', `github_pat_${letters}_${letters}`),
  planted('gitlab-token', `glpat-${letters}`),
  planted('slack-token', `xoxb-123456789012-${letters}`),
  planted('slack-token', `T0AAAAAAA/B0AAAAAAA/${letters}`, 'https://hooks.slack.com/services/¤'),
  planted('aws-access-key', 'AKIAQ7DPX2LMZR9TKB4V'),
  planted('google-key', `AIza${letters}${letters.slice(0, 11)}`),
  planted('google-key', `ya29.${letters}`),
  planted('npm-token', `npm_${letters}${letters}`),
  planted('huggingface-token', `hf_${letters}`),
  planted('stripe-key', `sk_live_${letters}`),
  planted('convex-deploy-key', `${letters}=`, 'prod:quick-fox-12|¤'),
  planted('jwt', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${letters}`),
  planted('bearer', letters, 'curl -H "authorization: Bearer ¤" there'),
  planted('header', 'YWRhOmh1bnRlcjI=', 'Authorization: Basic ¤\nAccept: */*'),
  planted('header', letters, 'x-api-key: ¤'),
  planted('header', `sid=${letters}; theme=dark`, 'Cookie: ¤\nHost: a'),
  planted('private-key', pem('\n')),
  planted('private-key', pem('\\n'), '"key": "¤"'),
  planted('url-password', 'ada:hunter2hunter2', 'git clone https://¤@example.org/a.git'),
  planted('url-password', letters, 'https://¤@github.com/a/b'),
  planted('url-password', 'ada:p/w?#x', 'postgres://¤@db.example.org/main'),
  planted('url-query', letters, 'GET https://example.org/a?page=2&access_token=¤&x=1'),
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
];

function planted(rule: string, secret: string, around = 'It is ¤ , he said.'): PlantedSecret {
  return { rule, secret, around };
}

function pem(newLine: string): string {
  const body = [letters, letters, letters].join(newLine);
  return `-----BEGIN RSA PRIVATE KEY-----${newLine}${body}${newLine}-----END RSA PRIVATE KEY-----`;
}
