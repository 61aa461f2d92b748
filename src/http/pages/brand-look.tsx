/**
 * An owner's logo and colour on public pages. Whatever the colour is, text in it or on it keeps a contrast of at least
 * 4.5 : 1 (WCAG 2.2, 1.4.3).
 */
import type { PublicBrand } from '../../templates/brand/brand.ts';

/** The background colours of content in light and dark mode, as in the style sheet of public pages. */
const CARD = { light: '#ffffff', dark: '#1c2229' };
const LEAST = 4.5;
/** By how much a colour is mixed with black or white until its contrast suffices. */
const STEP = 0.04;

/** Returns the rules that follow the style sheet of public pages; empty without a brand. The colour has the form #1d5b46. */
export function brandStyle({ colour, logo }: PublicBrand): string {
  const accent = (name: 'light' | 'dark') => {
    const shown = readable(colour, CARD[name]);
    return `:root{--accent:${shown};--on-accent:${contrast(shown, '#ffffff') >= LEAST ? '#ffffff' : '#000000'}}`;
  };
  const coloured = colour === '' ? '' : `${accent('light')}@media(prefers-color-scheme:dark){${accent('dark')}}`;
  // A logo may be dark without a background of its own, so a dark page shows it on a light background.
  const logoStyle =
    logo === null
      ? ''
      : '.logo{margin:0 0 1.25rem}.logo img{max-width:100%;height:auto;vertical-align:bottom}@media(prefers-color-scheme:dark){.logo img{padding:.5rem;border-radius:9px;background:#fff}}';
  return coloured + logoStyle;
}

/** The logo above the content; nothing if there is none. */
export function Logo({ brand: { logo } }: { brand: PublicBrand }) {
  if (logo === null) return null;
  return (
    <p class="logo">
      <img src={logo.path} alt={logo.alt} width={logo.width} height={logo.height} />
    </p>
  );
}

/** Returns the colour, or the nearest mixture with black or white that can be read on this background. */
function readable(colour: string, ground: string): string {
  const target = luminance(ground) > 0.5 ? 0 : 255;
  const parts = partsOf(colour);
  for (let share = 0; share < 1; share += STEP) {
    const mixed = hex(parts.map((part) => part + (target - part) * share));
    if (contrast(mixed, ground) >= LEAST) return mixed;
  }
  return hex([target, target, target]);
}

/** The contrast of two colours (WCAG 2.2, “contrast ratio”), 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The relative luminance of a colour (WCAG 2.2), 0 to 1. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function partsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
