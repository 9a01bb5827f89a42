import type { Scene } from '../script.ts';

export const explain: Scene = {
  name: 'explain',
  description: 'Answers a question with text and code',
  words: ['explain', 'markdown'],
  steps: [
    {
      do: 'think',
      text: `They ask why the loop sends its requests one after the other. It is the await inside the loop. The usual advice, Promise.all, would fire all of them at once, which is worse here: the list can have thousands of entries and the service limits requests. So I should show both, and a bounded version.`,
    },
    {
      do: 'say',
      text: `Demo, recorded: an answer with code.

## Why this loop is slow

\`\`\`ts
for (const id of ids) {
  results.push(await fetchOrder(id));
}
\`\`\`

\`await\` inside the loop makes each request wait for the one before. With 200 ids of 80 ms each that is 16 seconds, most of it spent waiting.

## All at once

\`\`\`ts
const results = await Promise.all(ids.map((id) => fetchOrder(id)));
\`\`\`

Now the whole takes about as long as the slowest request. But it has two traps:

1. It starts *all* requests together. A service that limits you to 20 at a time will refuse the rest.
2. The first failure rejects the whole, while the other requests keep running unnoticed.

## A few at a time

\`\`\`ts
/** Runs \`work\` on each item, at most \`limit\` at a time; results are in the order of the items. */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
\`\`\`

All workers draw from one iterator, so each item is taken once, and no worker waits while there is work left.

| | 200 requests of 80 ms | requests at a time |
|---|---:|---:|
| one after the other | 16.0 s | 1 |
| a few at a time | 0.8 s | 20 |
| all at once | 0.1 s | 200 |

> If one failure should not lose the other results, let \`work\` catch its own errors and return them as values.

I would take the third version, with the service’s documented limit.
`,
    },
  ],
};
