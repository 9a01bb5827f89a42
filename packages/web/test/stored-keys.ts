import type { Page } from 'playwright-core';

/** Returns the keys of one kind of objects that the browser stores. */
export function storedKeys(page: Page, kind: 'files' | 'drafts'): Promise<string[]> {
  return page.evaluate(
    (store) =>
      new Promise<string[]>((resolve, reject) => {
        const opening = indexedDB.open('liminal');
        opening.addEventListener('error', () => reject(new Error('No database.')));
        opening.addEventListener('success', () => {
          const { result: db } = opening;
          const all = db.transaction(store).objectStore(store).getAllKeys();
          all.addEventListener('success', () => {
            db.close();
            resolve(all.result.map(String));
          });
        });
      }),
    kind,
  );
}
