/** Which user agents are people, proxies and machines. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { DATA } from '../../../src/database/data-folder.ts';
import { MADE_BY } from '../../../src/database/schema/index.ts';
import { madeBy, readerOf } from '../../../src/delivery/feedback/readers.ts';
import { findBursts } from '../../../src/delivery/feedback/recorded-hits.ts';

const DEVICES = 'https://github.com/matomo-org/device-detector';
const MAIL_PROGRAMS = `${DEVICES}/blob/master/Tests/Parser/Client/fixtures/pim.yml`;
const LIBRARIES = `${DEVICES}/blob/master/Tests/Parser/Client/fixtures/library.yml`;
const CRAWLERS = 'https://github.com/monperrus/crawler-user-agents';
const SKYPE = `${CRAWLERS}/pull/24`;
const MDN = 'https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/User-Agent';
const WURFL = 'https://www.scientiamobile.com/what-is-google-image-proxy/';
const SPARKPOST = 'https://www.sparkpost.com/blog/gmail-prefetching-images/';
const SAMPLING = 'https://github.com/mssola/user_agent/issues/71';
const YAHOO = 'https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html';
const APPLE = 'https://help.socketlabs.com/docs/identifying-apple-mpp-opens-in-notification-api-events';
const OFFICE = 'https://github.com/eldy/AWStats/blob/develop/wwwroot/cgi-bin/lib/robots.pm';
/** Safe Links names itself as a browser or not at all. */
const SAFE_LINKS = 'https://github.com/edalzell/laravel-passwordless-login/issues/79';
const BOT_CLICKS =
  'https://www.suped.com/knowledge/email-deliverability/troubleshooting/how-can-i-identify-bot-user-agents-in-my-email-click-data';
/** It names a word of the agents of these filters, not the whole: the rows have the word. */
const SCANNERS = 'https://check.live-direct-marketing.online/blog/bot-clicks-security-scanners-detect';

const GMAIL = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const YAHOO_PROXY = 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html';
const SAFE_LINKS_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/97.0.4692.99 Safari/537.36';
const EDGE_12 =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246';

/** A user agent that loads the pixel, so many seconds after its mail was accepted, and where the agent or who it is is told. */
const OPENS: [agent: string, seconds: number, by: keyof typeof MADE_BY, source: string][] = [
  [GMAIL, 0, 'proxied', WURFL],
  [GMAIL, 9, 'proxied', WURFL],
  [GMAIL, 11, 'person', WURFL],
  [GMAIL, 60, 'person', WURFL],
  [GMAIL, 86_400, 'person', WURFL],
  [YAHOO_PROXY, 1, 'proxied', YAHOO],
  [YAHOO_PROXY, 60, 'person', YAHOO],
  [`${EDGE_12} Mozilla/5.0`, 60, 'proxied', SPARKPOST],
  [`${EDGE_12} Gmail-content-sampling`, 60, 'machine', SAMPLING],
  ['Mozilla/5.0', 1, 'proxied', APPLE],
  ['Mozilla/5.0', 3600, 'proxied', APPLE],
  ['', 60, 'machine', SAFE_LINKS],
  [SAFE_LINKS_AGENT, 1, 'machine', SAFE_LINKS],
  [SAFE_LINKS_AGENT, 60, 'person', SAFE_LINKS],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:42.0) Gecko/20100101 Firefox/42.0', 60, 'person', MDN],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/51.0.2704.103 Safari/537.36',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/51.0.2704.106 Safari/537.36 OPR/38.0.2220.41',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/91.0.4472.124 Safari/537.36 Edg/91.0.864.59',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 13_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Mobile/15E148 Safari/604.1',
    60,
    'person',
    MDN,
  ],
  [
    'Mozilla/5.0 (Linux; Android 8.1.0; CUBOT_POWER) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/76.0.3809.89 Mobile Safari/537.36',
    60,
    'person',
    DEVICES,
  ],
  [
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; Win64; x64; Trident/7.0; .NET CLR 2.0.50727; SLCC2; .NET CLR 3.5.30729; .NET CLR 3.0.30729; Media Center PC 6.0; .NET4.0C; InfoPath.3; .NET CLR 1.1.4322; FDM; Tablet PC 2.0; .NET4.0E; Microsoft Outlook 14.0.7113; ms-office; MSOffice 14)',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  [
    'Microsoft Office/16.0 (Microsoft Outlook 16.0.12329; Pro), Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  ['MacOutlook/16.46.21021202 (Intelx64 Mac OS X 11.2.2 (Build 20D80))', 60, 'person', MAIL_PROGRAMS],
  ['WindowsMail/17.5.9600.22013', 60, 'person', MAIL_PROGRAMS],
  ['Outlook-iOS/709.2042344.prod.iphone (3.21.0)', 60, 'person', MAIL_PROGRAMS],
  ['Outlook/16.16.18071205 CFNetwork/902.1 Darwin/17.7.0 (x86_64)', 60, 'person', MAIL_PROGRAMS],
  ['Yahoo%20Mail/49268 CFNetwork/1121.2.2 Darwin/19.3.0', 60, 'person', MAIL_PROGRAMS],
  ['Mozilla/5.0 (X11; Linux i686; rv:17.0) Gecko/20130330 Thunderbird/17.0.5', 60, 'person', MAIL_PROGRAMS],
  ['Mozilla/4.0 (compatible; Lotus-Notes/6.0; Windows-NT)', 60, 'person', MAIL_PROGRAMS],
  [
    'Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10.6; en-US; rv:1.9.1.8) Gecko/20100317 Postbox/1.1.3',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  ['The Bat! 4.0.0.22', 60, 'person', MAIL_PROGRAMS],
  ['Airmail 1.3.3 rv:237 (Macintosh; Mac OS X 10.9.2; en_US)', 60, 'person', MAIL_PROGRAMS],
  [
    'Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Mailspring/1.7.4 Chrome/69.0.3497.128 Electron/4.2.2 Safari/537.36',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/51.0.2704.103 Safari/537.36 Mailbird/2.4.30.0/',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  ['eMClient/9.3.6041.0', 60, 'person', MAIL_PROGRAMS],
  ['NaverMailApp/2.2.2 (Android 10; SM-G986N)', 60, 'person', MAIL_PROGRAMS],
  [
    'Mozilla/5.0 (Windows NT 6.2; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/101.0.4951.67 Safari/537.36 Foxmail/7.2.25.213',
    60,
    'person',
    MAIL_PROGRAMS,
  ],
  ['Barracuda Sentinel (EE)', 60, 'machine', BOT_CLICKS],
  ['proofpoint', 60, 'machine', SCANNERS],
  ['CiscoSecureEmail', 60, 'machine', SCANNERS],
  ['TMES', 60, 'machine', SCANNERS],
  ['Microsoft Office Existence Discovery', 60, 'machine', OFFICE],
  ['Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b', 60, 'machine', DEVICES],
  ['Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5', 60, 'machine', SKYPE],
  ['AHC/2.1', 60, 'machine', BOT_CLICKS],
  ['Social News Desk RSS Scraper', 60, 'machine', BOT_CLICKS],
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', 60, 'machine', BOT_CLICKS],
  ['K7MLWCBot/1.0 (+http://www.k7computing.com)', 60, 'machine', CRAWLERS],
  [
    'HubSpot Connect 2.0 (http://dev.hubspot.com/) - BizOpsCompanies-Tq2-BizCoDomainValidationAudit',
    60,
    'machine',
    CRAWLERS,
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64; HubSpot Single Page link check; web-crawlers+links@hubspot.com) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/51.0.2704.103 Safari/537.36',
    60,
    'machine',
    CRAWLERS,
  ],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 60, 'machine', CRAWLERS],
  ['Mozilla/5.0 (compatible; FlipboardProxy/1.2; +http://flipboard.com/browserproxy)', 60, 'machine', CRAWLERS],
  ['Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)', 60, 'machine', CRAWLERS],
  ['W3C_Validator/1.3', 60, 'machine', CRAWLERS],
  ['TelegramBot (like TwitterBot)', 60, 'machine', CRAWLERS],
  ['Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)', 60, 'machine', CRAWLERS],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/74.0.3729.169 Safari/537.36',
    60,
    'machine',
    CRAWLERS,
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/74.0.3694.0 Safari/537.36 Chrome-Lighthouse',
    60,
    'machine',
    CRAWLERS,
  ],
  ['python-requests/2.22.0', 60, 'machine', CRAWLERS],
  ['Wget/1.20.3 (linux-gnu)', 60, 'machine', CRAWLERS],
  ['curl/7.65.3', 60, 'machine', CRAWLERS],
  ['Jersey/2.25.1 (HttpUrlConnection 1.8.0_141)', 60, 'machine', CRAWLERS],
  ['Jetty/9.3.z-SNAPSHOT', 60, 'machine', CRAWLERS],
  ['Apache-HttpClient/4.5.10 (Java/1.8.0_201)', 60, 'machine', CRAWLERS],
  ['okhttp/4.1.0', 60, 'machine', CRAWLERS],
  ['axios/0.19.0', 60, 'machine', CRAWLERS],
  [
    'curl/7.21.0 (i386-redhat-linux-gnu) libcurl/7.21.0 NSS/3.12.10.0 zlib/1.2.5 libidn/1.18 libssh2/1.2.4',
    60,
    'machine',
    LIBRARIES,
  ],
  [
    'PycURL/7.19.3.1 libcurl/7.26.0 GnuTLS/2.12.20 zlib/1.2.7 libidn/1.25 libssh2/1.4.2 librtmp/2.3',
    60,
    'machine',
    LIBRARIES,
  ],
  ['Python-urllib/2.6', 60, 'machine', LIBRARIES],
  ['Mozilla/5.0 (Python-urllib2)', 60, 'machine', LIBRARIES],
  ['Python/3.5 aiohttp/1.0.5', 60, 'machine', LIBRARIES],
  ['Java/1.7.0_51', 60, 'machine', LIBRARIES],
  ['Java1.1.4', 60, 'machine', LIBRARIES],
  ['Google-HTTP-Java-Client/1.17.0-rc (gzip)', 60, 'machine', LIBRARIES],
  ['libwww-perl/5.69', 60, 'machine', LIBRARIES],
  ['perlclient/1.0', 60, 'machine', LIBRARIES],
  ['WWW-Mechanize/1.73', 60, 'machine', LIBRARIES],
  ['Guzzle/3.9.3 curl/7.38.0 PHP/5.6.14-0+deb8u1', 60, 'machine', LIBRARIES],
  ['HTTP_Request2/2.3.0 (http://pear.php.net/package/http_request2) PHP/5.3.3', 60, 'machine', LIBRARIES],
  ['Mechanize/2.7.3 Ruby/1.9.3p551 (http://github.com/sparklemotion/mechanize/)', 60, 'machine', LIBRARIES],
  ['Faraday v0.9.1', 60, 'machine', LIBRARIES],
  ['Go-http-client/1.1', 60, 'machine', LIBRARIES],
  ['Go-http-client/2.0', 60, 'machine', LIBRARIES],
  ['Go 1.1 package http', 60, 'machine', LIBRARIES],
  ['PostmanRuntime/7.26.5', 60, 'machine', MDN],
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
  t.equal(madeBy(readerOf(SAFE_LINKS_AGENT), true, 60_000), MADE_BY.person);
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
