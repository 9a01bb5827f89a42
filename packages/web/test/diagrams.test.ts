import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { message, upsert } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage();

/** Another server on this machine. It must receive no requests. */
let other: Server;
const reached: string[] = [];
const evil = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}`;

beforeAll(async () => {
  other = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
});
afterAll(() => other.close());

const item = (page: Page) => page.locator('[data-item-id="a"]');

function sendDiagrams(...diagrams: string[]): void {
  const text = diagrams.map((code) => `\`\`\`mermaid\n${code}\n\`\`\``).join('\n\n');
  stage.send(upsert(message('a', text, { status: 'complete' })));
}

/** Opens the page, and records violations of its policy. */
async function visit(): Promise<{ page: Page; refused: () => Promise<string[]> }> {
  const page = await stage.visit();
  await page.evaluate(() => {
    const refused: string[] = [];
    Object.assign(window, { refused });
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      refused.push(`${violatedDirective} ${blockedURI}`),
    );
  });
  const refused = () => page.evaluate(() => (window as unknown as { refused: string[] }).refused);
  return { page, refused };
}

const settled = async (page: Page, count: number) =>
  await expect
    .poll(
      async () =>
        (await item(page).getByRole('img').count()) +
        (await item(page).getByText('could not be drawn').count()),
      { timeout: 30_000 },
    )
    .toBe(count);

const kinds: Record<string, string> = {
  flowchart: 'flowchart LR\n  A[Start] --> B{Ready?}\n  B -->|yes| C([Go])',
  sequence: 'sequenceDiagram\n  A->>B: Hello\n  Note over A: thinks\n  B-->>A: Hi',
  class: 'classDiagram\n  Animal <|-- Duck\n  Animal : +int age',
  state: 'stateDiagram-v2\n  [*] --> Still\n  Still --> Moving\n  Moving --> [*]',
  entities: 'erDiagram\n  CUSTOMER ||--o{ ORDER : places',
  gantt: 'gantt\n  title Plan\n  dateFormat YYYY-MM-DD\n  section A\n  One :a1, 2026-01-01, 30d',
  pie: 'pie title Pets\n  "Dogs" : 386\n  "Cats" : 85',
  journey: 'journey\n  title Day\n  section Work\n    Tea: 5: Me',
  git: 'gitGraph\n  commit\n  branch dev\n  checkout dev\n  commit\n  checkout main\n  merge dev',
  mindmap: 'mindmap\n  root((mind))\n    One\n    Two',
  timeline: 'timeline\n  title History\n  2002 : LinkedIn\n  2004 : Facebook',
  quadrant:
    'quadrantChart\n  title Reach\n  x-axis Low --> High\n  y-axis Low --> High\n  A: [0.3, 0.6]',
  chart:
    'xychart-beta\n  title "Sales"\n  x-axis [jan, feb]\n  y-axis "Money" 0 --> 10\n  bar [5, 6]',
  requirements:
    'requirementDiagram\n  requirement r {\n    id: 1\n    text: words\n    risk: high\n    verifymethod: test\n  }',
  sankey: 'sankey-beta\n\nA,B,10\nA,C,5',
  block: 'block-beta\n  columns 1\n  a b',
  packet: 'packet-beta\n  0-15: "Source"\n  16-31: "Destination"',
  kanban: 'kanban\n  Todo\n    [Docs]\n  Done\n    [Tests]',
  architecture:
    'architecture-beta\n  group api(cloud)[API]\n  service db(database)[Database] in api\n  service s(server)[Server] in api\n  db:L -- R:s',
  context: 'C4Context\n  title System\n  Person(a, "A")\n  System(b, "B")\n  Rel(a, b, "Uses")',
};

it('each kind of diagram is drawn, in the light and in the dark theme', async () => {
  const { page, refused } = await visit();
  sendDiagrams(...Object.values(kinds));
  await settled(page, Object.keys(kinds).length);
  const drawn = () =>
    item(page)
      .getByRole('img')
      .evaluateAll((all) =>
        all.map((one) => {
          const { alt, naturalWidth, src } = one as HTMLImageElement;
          return { alt, isDrawn: naturalWidth > 50 && naturalWidth < 5_000, src };
        }),
      );
  const inLight = await drawn();
  expect(inLight.filter(({ isDrawn }) => !isDrawn)).toEqual([]);
  expect(inLight.length).toBe(Object.keys(kinds).length);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect
    .poll(async () => (await drawn()).filter(({ src }, at) => src === inLight[at]?.src).length, {
      timeout: 30_000,
    })
    .toBe(0);
  expect(await refused()).toEqual([]);
});

/** Diagrams with labels or settings that try to run scripts or send requests. */
const hostile: Record<string, (address: string) => string> = {
  'an image in a label': (at) =>
    `graph TD\n  A["<img src='${at}/label' onerror='top.hacked=1;fetch(\`${at}/run\`)'>"] --> B`,
  'a script in a label': (at) =>
    `graph TD\n  A["<script>fetch('${at}/script')</script><svg onload=alert(1)>x</svg>"] --> B`,
  'a page in a label': (at) =>
    `graph TD\n  A["<iframe src='${at}/page'></iframe><object data='${at}/object'></object>"] --> B`,
  'a refresh in a label': (at) =>
    `graph TD\n  A["<meta http-equiv=refresh content='0;url=${at}/refresh'><base href='${at}'>"] --> B`,
  'a style in a label': (at) =>
    `graph TD\n  A["<style>@import '${at}/import';</style><link rel=stylesheet href='${at}/sheet'>"] --> B`,
  'an image as a shape': (at) =>
    `graph TD\n  A@{ img: "${at}/shape.png", label: "a", w: 60, h: 60 }\n  A --> B`,
  'an icon as a shape': (at) => `graph TD\n  A@{ icon: "${at}/icon.svg", label: "a" }\n  A --> B`,
  'a click that runs': (at) =>
    `graph TD\n  A --> B\n  click A call fetch("${at}/click")\n  click B href "javascript:fetch('${at}/href')"`,
  'settings that loosen the security': (at) =>
    `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}, "secure": [], "themeCSS": "* { background: url(${at}/css) } @import '${at}/css2';", "fontFamily": "x; src: url(${at}/font)"}}%%\ngraph TD\n  A["<img src='${at}/loose' onerror='top.hacked=1'>"] --> B`,
  'settings before the diagram': (at) =>
    `---\nconfig:\n  securityLevel: loose\n  htmlLabels: true\n  themeCSS: "* { background: url(${at}/front) }"\n---\ngraph TD\n  A["<img src='${at}/front2' onerror='top.hacked=1'>"] --> B`,
  'theme variables': (at) =>
    `%%{init: {"theme": "base", "themeVariables": {"primaryColor": "url(${at}/variable)", "fontFamily": "'} * { background: url(${at}/broken) } a {'"}}}%%\ngraph TD\n  A --> B`,
  'a style of a node': (at) =>
    `graph TD\n  A --> B\n  style A fill:url(${at}/fill)\n  classDef x background:url(${at}/class)\n  class B x\n  linkStyle 0 stroke:url(${at}/link)`,
  'a foreign object': (at) =>
    `sequenceDiagram\n  participant A as <foreignObject><img src="${at}/foreign" onerror="top.hacked=1"></foreignObject>\n  A->>A: <img src=${at}/message>\n  link A: Open @ javascript:fetch('${at}/link')`,
  'an image in a formula': (at) =>
    `graph TD\n  A["$$\\includegraphics{${at}/formula}$$"] --> B["$$\\href{javascript:top.hacked=1}{x}$$"]`,
  'markdown in a label': (at) =>
    `graph TD\n  A["\`![x](${at}/markdown) <img src=${at}/inside>\`"] --> B`,
  'a class with HTML': (at) =>
    `classDiagram\n  class A["<img src='${at}/class' onerror='top.hacked=1'>"]\n  A : <img src='${at}/member'>\n  link A "javascript:fetch('${at}/k')"`,
  'a state with HTML': (at) =>
    `stateDiagram-v2\n  s1 : <img src='${at}/state' onerror='top.hacked=1'>\n  s1 --> s2`,
  'a task with a click': (at) =>
    `gantt\n  dateFormat YYYY-MM-DD\n  section <img src='${at}/gantt'>\n  One :a1, 2026-01-01, 3d\n  click a1 href "javascript:fetch('${at}/task')"`,
  'a person with a picture': (at) =>
    `C4Context\n  Person(a, "A", "d", $sprite="${at}/sprite.png", $link="javascript:top.hacked=1")\n  UpdateElementStyle(a, $bgColor="url(${at}/c4)")`,
  'a mind with HTML': (at) =>
    `mindmap\n  root["<img src='${at}/mind' onerror='top.hacked=1'>"]\n    ::icon(fa fa-book" onload="top.hacked=1)`,
};

it('SAFE: a hostile diagram runs no script and reaches no server, neither in the page nor in the frame that draws it', async () => {
  reached.length = 0;
  const { page, refused } = await visit();
  const codes = Object.values(hostile).map((code) => code(evil()));
  sendDiagrams(...codes);
  await settled(page, codes.length);
  // Clicks on the images would load pictures that load late, and follow links.
  for (const image of await item(page).getByRole('img').all()) await image.click({ force: true });
  const frames = await Promise.all(
    page.frames().map((frame) => frame.evaluate(() => [location.href, 'hacked' in globalThis])),
  );
  expect(frames.filter(([, isHacked]) => isHacked)).toEqual([]);
  expect(frames.map(([address]) => new URL(String(address)).pathname)).toContain(
    '/diagram-frame.html',
  );
  expect(await refused()).toEqual([]);
  expect(reached).toEqual([]);
  // The page itself must contain diagrams only as images.
  expect(
    await item(page).locator('svg [onload], svg image, foreignObject, script, iframe').count(),
  ).toBe(0);
});

it('SAFE: the frame that draws diagrams has an opaque origin and can read neither the page nor the server', async () => {
  const { page } = await visit();
  sendDiagrams(kinds['flowchart'] ?? '');
  await settled(page, 1);
  const frame = page.frames().find((one) => one.url().endsWith('/diagram-frame.html'));
  const can = await frame?.evaluate(async (other) => {
    const tried = async (act: () => unknown) => {
      try {
        await act();
        return true;
      } catch {
        return false;
      }
    };
    return {
      origin: globalThis.origin,
      readPage: await tried(() => parent.document.title),
      store: await tried(() => localStorage.length),
      cookie: await tried(() => document.cookie),
      server: await tried(() => fetch('/api/projects')),
      other: await tried(() => fetch(other)),
      window: open('about:blank') !== null,
    };
  }, evil());
  expect(can).toEqual({
    origin: 'null',
    readPage: false,
    store: false,
    cookie: false,
    server: false,
    other: false,
    window: false,
  });
  expect(reached).toEqual([]);
});
