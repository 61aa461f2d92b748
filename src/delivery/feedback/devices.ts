/**
 * Finds the kind of device behind an open or a click by its user agent. Only the kind is stored, never the user agent. A proxy that loads
 * the images of mails hides the device.
 */
import type { Device } from '../../database/schema/index.ts';
import { readerOf } from './readers.ts';

/**
 * The patterns of user agents; the first match applies. Safari on an iPad calls itself a Macintosh since iPadOS 13, so such an iPad counts
 * as a computer.
 */
const PATTERNS: readonly (readonly [RegExp, Device])[] = [
  [/iPad|Tablet|PlayBook|Kindle|Silk\/|Android(?!.*\bMobile\b)/i, 'tablet'],
  [/iPhone|iPod|\bMobile\b|Windows Phone|BlackBerry|Opera Mini/i, 'phone'],
  [/Windows NT|Macintosh|X11|Linux|CrOS|Microsoft Outlook|Thunderbird/i, 'desktop'],
];
/** The number of characters of a user agent that are read, so that matching stays cheap. */
const MAX_AGENT = 500;

/** Returns the kind of device that a user agent names. */
export function deviceOf(userAgent: string | undefined): Device {
  const reader = readerOf(userAgent);
  if (reader === 'imageProxy' || reader === 'proxied') return 'proxy';
  const agent = (userAgent ?? '').slice(0, MAX_AGENT);
  return PATTERNS.find(([pattern]) => pattern.test(agent))?.[1] ?? 'unknown';
}
