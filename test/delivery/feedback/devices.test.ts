/** Which kind of device a user agent names, and how a report counts opens and clicks by it. */
import t from 'tap';
import { deviceOf } from '../../../src/delivery/feedback/devices.ts';

const AGENTS = [
  [
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  ],
  ['desktop', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0'],
  ['desktop', 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)'],
  [
    'phone',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  ],
  [
    'phone',
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
  ],
  [
    'tablet',
    'Mozilla/5.0 (Linux; Android 13; SM-X900) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  ],
  ['tablet', 'Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'],
  ['proxy', 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'],
  ['proxy', 'Mozilla/5.0'],
  ['unknown', 'Superhuman'],
  ['unknown', undefined],
] as const;

t.test('the user agents of browsers and mail programs name their kind of device', async (t) => {
  for (const [device, agent] of AGENTS) t.equal(deviceOf(agent), device, agent ?? 'none');
  const from = performance.now();
  deviceOf('Android'.repeat(100_000));
  deviceOf(`Android${' Mobil'.repeat(100_000)}`);
  t.ok(performance.now() - from < 1000, 'a long one is cut');
});
