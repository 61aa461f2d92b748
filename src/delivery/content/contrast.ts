/** Contrast of two colours (WCAG 2.2, definitions of contrast ratio and relative luminance). */

/** Converts a hexadecimal colour such as `#fff` to six digits without the `#`; null for any other notation. */
export function hexDigits(colour: string): string | null {
  const digits = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(colour)?.[1];
  if (digits === undefined) return null;
  return digits.length === 6 ? digits : digits.replaceAll(/./g, '$&$&');
}

/** Returns the contrast ratio of two colours, from 1 to 21. Each colour is given as six hexadecimal digits. */
export function contrast(first: string, second: string): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(second)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** The minimum contrast of text in WCAG 2.2 (1.4.3). */
export const LEGIBLE = 4.5;

/** Returns white if white text is legible on a colour such as #1d5b46; otherwise black, also for other notations than hexadecimal. */
export function legibleOn(colour: string): string {
  return contrast(hexDigits(colour) ?? '', 'ffffff') >= LEGIBLE ? '#ffffff' : '#000000';
}

/** Returns the relative luminance of a colour, from 0 to 1. The colour is given as six hexadecimal digits. */
export function luminance(digits: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const value = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
