/** Tells opens and clicks by machines from those by people, by user agent and by time since sending. */

/** The whole user agent of Apple's privacy proxy, which loads the images of every mail by itself. */
const APPLE = 'Mozilla/5.0';
/** Google's and Yahoo's image proxies, and user agents that name a crawler or scanner. */
const PROXY = /GoogleImageProxy|YahooMailProxy|bot\b|crawl|spider|scanner|preview/i;
/** People do not open a mail this soon after it was accepted; content filters do. */
const TOO_SOON_MS = 2000;

/** Whether a request's user agent is a machine's. */
export function isBotAgent(userAgent: string | undefined): boolean {
  return userAgent === APPLE || PROXY.test(userAgent ?? '');
}

/** Whether a hit at `at` comes too soon after `handedOffAt` to be from a person; both in epoch milliseconds. */
export function isTooSoonForPerson(at: number, handedOffAt: number): boolean {
  return at - handedOffAt < TOO_SOON_MS;
}
