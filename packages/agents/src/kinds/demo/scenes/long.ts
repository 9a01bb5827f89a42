import type { Scene } from '../script.ts';

export const long: Scene = {
  name: 'long',
  description: 'Gives a long answer, to see how it streams and scrolls',
  words: ['long'],
  steps: [
    {
      do: 'say',
      text: `Demo, recorded: a long answer. The question was how a web service should cache its responses.

# Caching a web service, from the outside in

There are four places where a response can wait to be used again: the browser, a shared cache in front of the service, the service’s own memory, and the database. Each of them saves a different thing, and each can be wrong in its own way. It pays to begin on the outside, because a request that never arrives is the cheapest of all.

## 1. The browser

The browser caches what the response allows it to. Two headers decide almost everything:

- \`Cache-Control\` says how long a response may be used without asking.
- \`ETag\` gives it a name, so that the browser can ask whether it is still the same.

Files whose name holds a hash of their content never change, so they may stay for ever:

\`\`\`http
HTTP/1.1 200 OK
Content-Type: text/javascript
Cache-Control: public, max-age=31536000, immutable
\`\`\`

A page that names such files must not stay, or people will go on using the old ones:

\`\`\`http
HTTP/1.1 200 OK
Content-Type: text/html
Cache-Control: no-cache
ETag: "7f3a-9c1"
\`\`\`

\`no-cache\` is badly named. It does not mean that nothing is stored; it means that the browser must ask before it uses what it has stored. What forbids storing is \`no-store\`, and that is right for a bank statement but wasteful for a news page.

When the browser asks, it sends the name along, and gets a short answer if nothing has changed:

\`\`\`http
GET / HTTP/1.1
If-None-Match: "7f3a-9c1"

HTTP/1.1 304 Not Modified
ETag: "7f3a-9c1"
\`\`\`

## 2. A shared cache

A shared cache stands between many people and the service. One miss fills it for all of them, which is why it saves so much, and why a mistake there is so bad: a response for one person can reach another.

Three rules keep that from happening:

1. Mark whatever depends on who is asking as \`private\`. Shared caches then leave it alone.
2. Name in \`Vary\` each request header that changes the response. The usual ones are \`Accept-Encoding\` and \`Accept-Language\`. Never \`Cookie\`: every visitor has a different one, so nothing would be found again.
3. Give shared caches a life of their own with \`s-maxage\`, so that you can keep it short there and longer in the browser, or the other way round.

Then there is the moment when an entry runs out. If a thousand requests arrive in that second, a thousand of them miss. \`stale-while-revalidate\` helps: the cache goes on giving out the old response while it fetches a new one.

\`\`\`http
Cache-Control: public, s-maxage=60, stale-while-revalidate=600
\`\`\`

## 3. The service’s memory

What is left now is work that only the service can avoid. A small cache in memory is a map with two limits, one on its size and one on the age of its entries:

\`\`\`ts
interface Entry<T> {
  value: T;
  expiresAt: number;
}

/** Keeps the most recently used values; \`maxAge\` is in milliseconds. */
export class RecentCache<T> {
  readonly #entries = new Map<string, Entry<T>>();

  constructor(
    private readonly maxSize: number,
    private readonly maxAge: number,
  ) {}

  get(key: string, now: number): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= now) return undefined;
    // A Map keeps the order of insertion, so the oldest entry is always the first.
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: T, now: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: now + this.maxAge });
    if (this.#entries.size <= this.maxSize) return;
    const oldest = this.#entries.keys().next().value;
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
\`\`\`

Two things are easy to forget:

- **Share the work, not only the result.** If ten requests miss at once, nine of them should wait for the first. Store the promise rather than the value, and take it out again if it rejects.
- **Several instances have several caches.** They will differ for as long as an entry may live. If that is not acceptable, the cache belongs in a place that all of them share.

## 4. The database

The last place is the database. It caches pages by itself, and mostly better than you could. What you can add is a stored answer: a column with a count, a table with the day’s totals. Such an answer is quick to read and has to be kept right on every write.

| | counted on each read | counted on each write |
|---|---|---|
| reading | slow, grows with the data | one row |
| writing | nothing to do | one more update, in the same transaction |
| mistakes | none possible | a forgotten write path is wrong until it is counted again |

It is worth it when reads outnumber writes by a lot, and when there is a job that counts afresh from time to time and says what it had to correct.

## How to choose

Start with a question for each kind of response: *how old may it be, and who may see it?*

| response | how old | who | where |
|---|---|---|---|
| hashed files | for ever | everybody | browser, shared cache |
| a public page | a minute | everybody | shared cache |
| a person’s own page | not at all | that person | browser, always asking |
| the price in the checkout | not at all | that person | nowhere |
| totals of past months | for ever | staff | database |

Then measure before you add the next layer. A cache that is hit one time in ten costs more attention than it saves time, and each layer is one more place to look when somebody says that they still see the old version.

## In short

- Begin outside, where a hit saves the most.
- Let names change rather than contents: then nothing ever has to be invalidated.
- Keep private things private by saying so in the header.
- Let one request do the work for all that wait for it.
- Write down how old each response may be. Most arguments about caches are really about that.
`,
    },
  ],
};
