import { expect, it } from 'vitest';
import { message, upsert } from './items.ts';
import { openStage, Stage, stage } from './stage.ts';

// The page and the frame have different origins, and the whole browser runs them in two processes.
Stage.isWholeBrowser = true;
openStage();

/** Replaces Mermaid by a layout that never ends. */
const endless =
  '<script>onmessage = ({ ports: [port] }) => { port.onmessage = () => { for (;;); }; };</script>';
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'unsafe-inline'; sandbox allow-scripts",
};

const code = `\`\`\`mermaid\n${'pie title Pets\n  "Dogs" : 386\n  "Cats" : 85'}\n\`\`\``;

it('SAFE: if a diagram is never finished, the page still responds, later shows the source, and draws the next diagram', async () => {
  const page = await stage.visit();
  await page.evaluate(() => {
    const { setTimeout: later } = globalThis;
    // Shortens the time limit for a diagram from 20 seconds to 2.
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms = 0) => later(act, ms === 20_000 ? 2_000 : ms),
    });
  });
  let isEndless = true;
  await page.route('**/diagram-frame.html', async (route) =>
    isEndless
      ? route.fulfill({ contentType: 'text/html', headers, body: endless })
      : route.continue(),
  );
  const isLoaded = page.waitForEvent('framenavigated', (one) =>
    one.url().endsWith('/diagram-frame.html'),
  );
  stage.send(upsert(message('a', code, { status: 'complete' })));
  await isLoaded;
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Are you there');
  expect(await field.inputValue()).toBe('Are you there');
  await page.locator('[data-item-id="a"]').getByText('could not be drawn').waitFor();
  expect(await page.locator('iframe').count()).toBe(0);
  isEndless = false;
  stage.send(upsert(message('b', code, { status: 'complete' })));
  await page.locator('[data-item-id="b"]').getByRole('img').waitFor();
});
