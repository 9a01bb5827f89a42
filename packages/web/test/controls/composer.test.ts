import type { ConfigOption } from '@liminal/protocol';
import { expect } from 'vitest';
import { turn } from '../items.ts';
import { asked, button, field, gone, link, past, tryControls, withOthers } from './scene.ts';
import { press, take, write } from './ways.ts';

function option(name: string, values: string[]): ConfigOption {
  const options = values.map((value) => ({ value: value.toLowerCase(), name: value }));
  return { id: name.toLowerCase(), name, currentValue: options[0]?.value ?? '', options };
}

tryControls([
  {
    name: 'the composer',
    set: (stage) => {
      stage.history = past;
      stage.answer = (_, path) =>
        path.startsWith('/api/project/files')
          ? { files: [{ path: 'src/Cart.tsx', name: 'Cart.tsx' }] }
          : undefined;
      stage.info = {
        ...stage.info,
        session: { ...stage.info.session, state: 'running' },
        queue: ['q', 'r'].map((turnId) => ({
          turnId,
          message: `Later: ${turnId}`,
          queuedAt: '',
          state: 'queued',
        })),
        tasks: [{ taskId: 'b', title: 'npm run dev', kind: 'command', startedAt: '' }],
        commands: [{ name: 'compact', description: 'Shorten it' }],
        configOptions: [
          option('Mode', ['Ask', 'Auto']),
          option(
            'Model',
            Array.from({ length: 40 }, (_, n) => `Model ${n}`),
          ),
          ...['Thinking', 'Search', 'Sandbox', 'Depth'].map((name) =>
            option(name, ['Low', 'High']),
          ),
        ],
      };
    },
    controls: [
      {
        name: 'the field',
        find: field,
        use: async (page, control, way) => {
          await write(page, control, way, 'Do it');
          if (way === 'touch') await button('Send message')(page).tap();
          else await page.keyboard.press('Enter');
        },
        effect: asked('POST', /\/send$/, expect.objectContaining({ message: 'Do it' })),
      },
      {
        name: 'the button that leads to the field',
        find: button('Skip to message'),
        effect: (page) => field(page).and(page.locator(':focus')).waitFor(),
        // A mouse cannot reach the button, because the button is visible only while it has the focus.
        only: ['keyboard'],
      },
      {
        name: 'the button that sends',
        find: button('Send message'),
        use: async (page, control, way) => {
          await write(page, field(page), way, 'Do it');
          await press(page, control, way);
        },
        effect: asked('POST', /\/send$/, expect.objectContaining({ message: 'Do it' })),
      },
      {
        name: 'a command',
        find: field,
        use: async (page, control, way) => {
          await write(page, control, way, '/');
          await take(page, page.getByRole('option', { name: /compact/ }), way);
        },
        effect: async (page) => await expect.poll(() => field(page).inputValue()).toBe('/compact '),
      },
      {
        name: 'a file',
        find: field,
        use: async (page, control, way) => {
          await write(page, control, way, 'See @');
          await take(page, page.getByRole('option', { name: /Cart\.tsx/ }), way);
        },
        effect: async (page) =>
          await expect.poll(() => field(page).inputValue()).toBe('See @src/Cart.tsx '),
      },
      {
        name: 'a setting',
        find: (page) => page.getByRole('combobox', { name: 'Mode', exact: true }),
        use: async (page, control, way) => {
          await press(page, control, way);
          await take(page, page.getByRole('option', { name: 'Auto' }), way);
        },
        effect: asked('POST', /\/config$/, { id: 'mode', value: 'auto' }),
      },
      {
        name: 'a setting of many values',
        find: (page) => page.getByRole('combobox', { name: 'Model', exact: true }),
        use: async (page, control, way) => {
          await press(page, control, way);
          await page.getByRole('combobox', { name: 'Search: Model' }).waitFor();
          await page.keyboard.type('model 17');
          await take(page, page.getByRole('option', { name: 'Model 17' }), way);
        },
        effect: asked('POST', /\/config$/, { id: 'model', value: 'model 17' }),
      },
      {
        name: 'the button for more settings',
        find: button('More settings'),
        use: async (page, control, way) => {
          await press(page, control, way);
          await press(page, page.getByRole('combobox', { name: 'Depth' }), way);
          await take(page, page.getByRole('option', { name: 'High' }), way);
        },
        effect: asked('POST', /\/config$/, { id: 'depth', value: 'high' }),
      },
      {
        name: 'a setting in a wide bar',
        find: (page) => page.getByRole('combobox', { name: /Thinking|Search/ }),
        use: async (page, control, way) => {
          await press(page, control.first(), way);
          await take(page, page.getByRole('option', { name: 'High' }), way);
        },
        effect: asked('POST', /\/config$/, { id: 'thinking', value: 'high' }),
        only: ['mouse', 'keyboard'],
      },
      {
        name: 'the button that stops a background task',
        find: button('Stop npm run dev'),
        effect: asked('POST', /\/task\/b\/stop$/),
      },
      {
        name: 'the button that makes a queued message the next one',
        find: button('Move to front'),
        effect: asked('POST', /\/queue\/r\/now$/),
      },
      {
        name: 'the button that moves a queued message up',
        find: button('Move up'),
        use: (page, control, way) => press(page, control.last(), way),
        effect: asked('POST', /\/queue\/r\/move$/, { before: 'q' }),
      },
      {
        name: 'the button that moves a queued message down',
        find: button('Move down'),
        use: (page, control, way) => press(page, control.first(), way),
        effect: asked('POST', /\/queue\/q\/move$/, {}),
      },
      {
        name: 'the button that changes a queued message',
        find: button('Edit queued message'),
        use: async (page, control, way) => {
          await press(page, control.first(), way);
          await write(page, page.getByRole('textbox', { name: 'Queued message' }), way, 'Sooner');
          await press(page, button('Save')(page), way);
        },
        effect: asked('PUT', /\/queue\/q$/, { message: 'Sooner', runCommand: true }),
      },
      {
        name: 'the button that cancels the edit of a queued message',
        find: button('Edit queued message'),
        use: async (page, control, way) => {
          await press(page, control.first(), way);
          await press(page, button('Cancel')(page), way);
        },
        effect: (page) => button('Remove queued message')(page).first().waitFor(),
      },
      {
        name: 'the button that removes a queued message',
        find: button('Remove queued message'),
        use: (page, control, way) => press(page, control.first(), way),
        effect: asked('DELETE', /\/queue\/q$/),
      },
    ],
  },
  {
    name: 'a running turn',
    set: (stage) => {
      stage.history = { ...past, turns: [turn('t1')] };
      stage.info = { ...stage.info, canSteer: true };
    },
    controls: [
      { name: 'Stop', find: button('Stop'), effect: asked('POST', /\/cancel$/) },
      {
        name: 'the button that puts a message into the queue',
        find: button('Queue message'),
        use: async (page, control, way) => {
          await write(page, field(page), way, 'Then this');
          await press(page, control, way);
        },
        effect: asked('POST', /\/send$/, expect.objectContaining({ message: 'Then this' })),
      },
      {
        name: 'the button that sends a message into the running turn',
        find: button('Steer'),
        use: async (page, control, way) => {
          await write(page, field(page), way, 'This, too');
          await press(page, control, way);
        },
        effect: asked('POST', /\/steer$/, expect.objectContaining({ message: 'This, too' })),
      },
    ],
  },
  {
    name: 'a notice',
    set: (stage) => {
      stage.history = past;
      stage.info = { ...stage.info, notices: [{ level: 'warning', text: 'See https://x.org' }] };
    },
    go: (page) => page.getByRole('list', { name: 'Notices' }).waitFor(),
    controls: [
      {
        name: 'Dismiss',
        find: button('Dismiss'),
        effect: (page) => gone(page.getByRole('list', { name: 'Notices' })),
        spoils: true,
      },
      {
        name: 'its link',
        find: link('https://x.org'),
        effect: async (page) =>
          expect(await link('https://x.org')(page).getAttribute('target')).toBe('_blank'),
      },
    ],
  },
  {
    name: 'an agent that is not ready',
    set: (stage) => {
      stage.history = { entries: [], turns: [], cursor: '', hasMore: false };
      const agent = { cliType: 'demo', name: 'Demo', description: '', available: true };
      stage.answer = (_, path) =>
        path === '/api/agents' ? { agents: [{ ...agent, reason: 'No key.' }] } : undefined;
    },
    go: (page) => page.getByText('Demo is not ready').waitFor(),
    controls: [
      {
        name: 'Check again',
        find: button('Check again'),
        use: (page, control, way, stage) => {
          stage.answer = (_, path) => (path === '/api/agents' ? { agents: [] } : undefined);
          return press(page, control, way);
        },
        effect: (page) => gone(page.getByText('Demo is not ready')),
      },
    ],
  },
  {
    name: 'a server that is away',
    set: (stage) => {
      stage.history = past;
    },
    go: async (page, _, stage) => {
      await page.routeWebSocket('**/ws', (socket) => socket.close());
      stage.hangUp();
      await button('Try now')(page).waitFor();
    },
    controls: [
      {
        name: 'Try now',
        find: button('Try now'),
        use: async (page, control, way) => {
          // Until the button is pressed, all attempts that the page makes by itself must fail.
          await control.evaluate((element) => {
            const isBack = () => document.body.setAttribute('data-back', '');
            element.addEventListener('click', isBack, { capture: true });
          });
          await page.unrouteAll();
          await page.routeWebSocket('**/ws', async (socket) => {
            const isBack = await page.locator('body[data-back]').count();
            if (isBack === 0) void socket.close();
            else socket.connectToServer();
          });
          await press(page, control, way);
        },
        effect: (page) => gone(button('Try now')(page)),
      },
    ],
  },
  {
    name: 'a session that could not be opened',
    set: withOthers,
    go: async (page, _, stage) => {
      stage.refuse = (path) =>
        path.endsWith('/load') ? { code: 'SESSION_NOT_FOUND', message: 'No.' } : undefined;
      await page.goto(new URL('/session/other-1', page.url()).href);
      await page.getByRole('heading', { name: 'This session could not be opened' }).waitFor();
    },
    controls: [
      {
        name: 'Try again',
        find: button('Try again'),
        effect: async (_, stage) =>
          await expect
            .poll(() => stage.requests.filter(({ path }) => path.endsWith('other-1/load')).length)
            .toBeGreaterThan(0),
      },
      {
        name: 'Close tab',
        find: (page) => page.getByRole('alert').getByRole('button', { name: 'Close tab' }),
        effect: (page) => gone(page.getByRole('heading', { name: 'This session could not' })),
      },
    ],
  },
]);
