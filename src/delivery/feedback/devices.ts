/**
 * The kind of device behind an open or a click, from its user agent. Only this class is stored, never the user agent. A proxy that loads
 * the images of mails hides the device.
 */
import type { Device } from '../../database/schema/index.ts';
import { readerOf } from './readers.ts';

/** The first matching pattern applies. An iPad with Safari since iPadOS 13 names itself a Macintosh, so it counts as a computer. */
const PATTERNS: readonly (readonly [RegExp, Device])[] = [
  [/iPad|Tablet|PlayBook|Kindle|Silk\/|Android(?!.*\bMobile\b)/i, 'tablet'],
  [/iPhone|iPod|\bMobile\b|Windows Phone|BlackBerry|Opera Mini/i, 'phone'],
  [/Windows NT|Macintosh|X11|Linux|CrOS|Microsoft Outlook|Thunderbird/i, 'desktop'],
];
/** Longer user agents are cut, so that matching stays cheap. */
const MAX_AGENT = 500;

/** The kind of device that a user agent names. */
export function deviceOf(userAgent: string | undefined): Device {
  const reader = readerOf(userAgent);
  if (reader === 'imageProxy' || reader === 'proxied') return 'proxy';
  const agent = (userAgent ?? '').slice(0, MAX_AGENT);
  return PATTERNS.find(([pattern]) => pattern.test(agent))?.[1] ?? 'unknown';
}
