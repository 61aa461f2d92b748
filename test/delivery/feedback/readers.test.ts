/** Which user agents are people, proxies and machines. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { DATA } from '../../../src/database/data-folder.ts';
import { MADE_BY } from '../../../src/database/schema/index.ts';
import { findBursts } from '../../../src/delivery/feedback/bursts.ts';
import { madeBy, readerOf } from '../../../src/delivery/feedback/readers.ts';

const BIRD = 'https://bird.com/blog/gmail-prefetching-images';
const WURFL = 'https://www.scientiamobile.com/what-is-google-image-proxy/';
const YAHOO = 'https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html';
const APPLE = 'https://help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events';
const SCANNERS = 'https://check.live-direct-marketing.online/blog/bot-clicks-security-scanners-detect';
const CRAWLERS = 'https://github.com/monperrus/crawler-user-agents';
const MDN = 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/User-Agent';
const OUTLOOK = 'https://github.com/matomo-org/device-detector';
const GMAIL = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const YAHOO_PROXY = 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html';
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const EDGE_12 =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246';

/** A user agent that loads the pixel, so many seconds after its mail was accepted, and where it is told who that is. */
const OPENS: [agent: string, seconds: number, by: keyof typeof MADE_BY, source: string][] = [
  [GMAIL, 0, 'proxied', WURFL],
  [GMAIL, 9, 'proxied', WURFL],
  [GMAIL, 11, 'person', WURFL],
  [GMAIL, 60, 'person', WURFL],
  [GMAIL, 86_400, 'person', WURFL],
  [YAHOO_PROXY, 1, 'proxied', YAHOO],
  [YAHOO_PROXY, 60, 'person', YAHOO],
  ['YahooCacheSystem', 60, 'proxied', CRAWLERS],
  [`${EDGE_12} Mozilla/5.0`, 60, 'proxied', BIRD],
  [`${EDGE_12} Gmail-content-sampling`, 60, 'machine', 'https://github.com/mssola/user_agent/issues/71'],
  ['Mozilla/5.0', 1, 'proxied', APPLE],
  ['Mozilla/5.0', 3600, 'proxied', APPLE],
  [CHROME, 1, 'machine', MDN],
  [CHROME, 60, 'person', MDN],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 60, 'person', MDN],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.4.0', 60, 'person', OUTLOOK],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)', 60, 'person', OUTLOOK],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    60,
    'person',
    OUTLOOK,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; .NET4.0C; .NET4.0E; Microsoft Outlook 16.0.17928; ms-office; MSOffice 16)',
    60,
    'person',
    OUTLOOK,
  ],
  ['Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17928; Pro)', 60, 'person', OUTLOOK],
  ['Outlook-iOS/723.4027091.prod.iphone (4.28.0)', 60, 'person', OUTLOOK],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (Linux; Android 14; SM-S911B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.0.0 Mobile Safari/537.36',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (Linux; U; Android 14; CUBOT X70) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Mobile Safari/537.36',
    60,
    'person',
    OUTLOOK,
  ],
  ['Evolution/3.56.1', 60, 'person', OUTLOOK],
  ['SamsungEmail/6.1.90 (Linux; Android 14)', 60, 'person', OUTLOOK],
  ['', 60, 'machine', 'https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5'],
  [
    'Barracuda Sentinel (EE)',
    60,
    'machine',
    'https://campus.barracuda.com/product/sentinel/doc/498468311/unwanted-link-clicks',
  ],
  ['Mozilla/5.0 (compatible; BarracudaCentral)', 60, 'machine', SCANNERS],
  ['Mimecast/1.0', 60, 'machine', SCANNERS],
  ['Mozilla/5.0 (compatible; Mimecast URL Protect)', 60, 'machine', SCANNERS],
  ['Proofpoint URL Defense', 60, 'machine', SCANNERS],
  ['Mozilla/5.0 (compatible; proofpoint-urldefense)', 60, 'machine', SCANNERS],
  ['Microsoft-SafeLinks/1.0', 60, 'machine', SCANNERS],
  ['Microsoft Office Existence Discovery', 60, 'machine', CRAWLERS],
  [
    'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
    60,
    'machine',
    CRAWLERS,
  ],
  ['Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5', 60, 'machine', CRAWLERS],
  ['CiscoSecureEmail/14', 60, 'machine', SCANNERS],
  ['TMES URL scan', 60, 'machine', SCANNERS],
  ['FortiMail 7.4', 60, 'machine', SCANNERS],
  ['Sophos Link Protection', 60, 'machine', SCANNERS],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36',
    60,
    'machine',
    'https://developer.chrome.com/docs/chromium/headless',
  ],
  [
    'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
    60,
    'machine',
    CRAWLERS,
  ],
  ['python-requests/2.32.3', 60, 'machine', 'https://requests.readthedocs.io/en/latest/api/'],
  ['Python/3.12 aiohttp/3.10.5', 60, 'machine', CRAWLERS],
  ['Python-urllib/3.12', 60, 'machine', CRAWLERS],
  ['python-httpx/0.27.2', 60, 'machine', CRAWLERS],
  ['Scrapy/2.11.2 (+https://scrapy.org)', 60, 'machine', CRAWLERS],
  ['Go-http-client/1.1', 60, 'machine', 'https://pkg.go.dev/net/http'],
  ['Go-http-client/2.0', 60, 'machine', 'https://pkg.go.dev/net/http'],
  ['curl/8.14.1', 60, 'machine', 'https://curl.se/docs/manpage.html'],
  ['Wget/1.25.0', 60, 'machine', CRAWLERS],
  ['libwww-perl/6.77', 60, 'machine', CRAWLERS],
  ['Java/17.0.12', 60, 'machine', 'https://docs.oracle.com/javase/8/docs/api/java/net/doc-files/net-properties.html'],
  ['Java-http-client/21.0.4', 60, 'machine', CRAWLERS],
  ['Apache-HttpClient/4.5.14 (Java/11.0.24)', 60, 'machine', CRAWLERS],
  ['okhttp/4.12.0', 60, 'machine', CRAWLERS],
  ['axios/1.7.7', 60, 'machine', 'https://axios-http.com/docs/req_config'],
  ['node-fetch/1.0 (+https://github.com/bitinn/node-fetch)', 60, 'machine', CRAWLERS],
  ['PostmanRuntime/7.43.0', 60, 'machine', CRAWLERS],
  ['PHP/8.3.12', 60, 'machine', CRAWLERS],
  ['reqwest/0.12.8', 60, 'machine', CRAWLERS],
  ['Ruby', 60, 'machine', CRAWLERS],
  ['GuzzleHttp/7', 60, 'machine', CRAWLERS],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 60, 'machine', CRAWLERS],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 60, 'machine', CRAWLERS],
  ['facebookexternalhit/1.1', 60, 'machine', CRAWLERS],
];

t.test(`${OPENS.length} user agents at a moment after the hand-off are people, proxies or machines`, async (t) => {
  t.ok(new Set(OPENS.map(([agent]) => agent)).size >= 60, 'at least sixty of them');
  for (const [agent, seconds, by, source] of OPENS)
    t.equal(
      madeBy(readerOf(agent), false, seconds * 1000),
      MADE_BY[by],
      `${agent || 'none'} after ${seconds} s: ${source}`,
    );
  t.equal(readerOf(undefined), 'machine');
});

t.test('image proxies follow no links: a click under their name is a machine’s', async (t) => {
  for (const agent of [GMAIL, YAHOO_PROXY, 'Mozilla/5.0', `${EDGE_12} Mozilla/5.0`])
    t.equal(madeBy(readerOf(agent), true, 60_000), MADE_BY.machine, agent);
  t.equal(madeBy(readerOf(CHROME), true, 60_000), MADE_BY.person);
});

t.test('every rule names a class, who it is, and a public source, and reads hostile agents in no time', async (t) => {
  const rules: Record<string, unknown>[] = JSON.parse(readFileSync(new URL('user-agents.json', DATA), 'utf8'));
  for (const { agent, class: of, who, source } of rules) {
    t.ok(['person', 'proxied', 'machine'].includes(String(of)), String(agent));
    t.match([who, source], [/\w{3}/, /^https:\/\//]);
  }
  for (const part of ['Electron/', 'bot', '(', 'Microsoft ']) t.type(readerOf(part.repeat(100_000)), 'string');
});

t.test('the pixel with three links, or every link, within two seconds is a burst', async (t) => {
  const at = (link: number | null, ms: number) => ({ link, at: ms });
  const marks = (links: number, ...hits: { link: number | null; at: number }[]) => findBursts(hits, links);
  const pixel = at(null, 0);
  t.strictSame(marks(9, pixel, at(0, 500), at(1, 900), at(2, 2000)), [true, true, true, true]);
  t.strictSame(marks(9, pixel, at(0, 500), at(1, 900), at(2, 2001)), [false, false, false, false]);
  t.strictSame(marks(9, pixel, at(0, 500), at(0, 900), at(0, 1000)), [false, false, false, false], 'one link thrice');
  t.strictSame(marks(2, at(0, 0), at(1, 2000), at(1, 9000)), [true, true, false], 'every link of two');
  t.strictSame(marks(1, pixel, at(0, 500)), [false, false], 'the only link');
  t.strictSame(marks(4, at(0, 0), at(1, 1), at(2, 2)), [false, false, false], 'three of four without the pixel');
});
