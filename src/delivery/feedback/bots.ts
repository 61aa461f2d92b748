/** Tells hits of machines from those of people, by who asks and how soon. */

/** Apple's privacy proxy loads every mail's pictures by itself and calls itself just this. */
const APPLE = 'Mozilla/5.0';
/** Google's and Yahoo's picture proxies, and whatever says of itself that it is no reader. */
const PROXY = /GoogleImageProxy|YahooMailProxy|bot\b|crawl|spider|scanner|preview/i;
/** Nobody opens a mail this soon after its hand-off; filters that look into it do. */
const TOO_SOON_MS = 2000;

/** Whether a request's user agent is a machine's. */
export function isBotAgent(userAgent: string | undefined): boolean {
  return userAgent === APPLE || PROXY.test(userAgent ?? '');
}

/** Whether a hit at `at` comes too soon after `handedOffAt` to be a person's, both epoch milliseconds. */
export function isTooSoonForPerson(at: number, handedOffAt: number): boolean {
  return at - handedOffAt < TOO_SOON_MS;
}
